import { parseJson } from '../../contract/json.ts';
import {
  type CollectionName,
  type Field,
  ORDER_STATUSES,
  STORED_RECORDS,
} from '../../contract/records.ts';

export type Row = Readonly<Record<string, unknown>>;

/** A change of a record with one press, and what it means for clients. */
interface Shortcut {
  readonly label: string;
  readonly changes: Row;
  readonly done: string;
}

export interface TableInfo {
  readonly noun: string;
  /** The field that identifies a record. */
  readonly id: string;
  readonly shortcuts: (row: Row) => readonly Shortcut[];
}

/** The three collections of a store. */
export const TABLES: Readonly<Record<CollectionName, TableInfo>> = {
  animals: { noun: 'animal', id: 'id', shortcuts: () => [] },
  inventory: {
    noun: 'inventory entry',
    id: 'petId',
    shortcuts: ({ quantity, petId }) => {
      const changes = { quantity: 0, status: 'sold' };
      const done = `Animal ${petId} is sold out.`;
      return quantity === 0 ? [] : [{ label: 'Sell out', changes, done }];
    },
  },
  orders: {
    noun: 'order',
    id: 'id',
    shortcuts: ({ status, id }) => {
      const to = (label: string, next: string, done: string): Shortcut => ({
        label,
        changes: { status: next },
        done: `Order ${id} ${done}`,
      });
      return status === 'shipped' || status === 'cancelled'
        ? [to('Back to pending', 'pending', 'is pending. Cancelling it now gets 204.')]
        : [
            to('Ship', 'shipped', 'has shipped. Cancelling it now gets 409.'),
            to('Cancel', 'cancelled', 'is cancelled.'),
          ];
    },
  },
};

export interface FieldInfo {
  readonly name: string;
  readonly isInteger: boolean;
  /** Values to suggest. */
  readonly suggested: readonly string[] | undefined;
}

const SUGGESTED: Partial<Record<Field['type'], readonly string[]>> = {
  boolean: ['true', 'false'],
  orderStatus: ORDER_STATUSES,
};

/** The fields of a collection's records. */
export function fieldsOf(name: CollectionName): readonly FieldInfo[] {
  return Object.entries<Field>(STORED_RECORDS[name]).map(([field, { type, seen }]) => ({
    name: field,
    isInteger: type === 'int64' || type === 'integer',
    suggested: seen ?? SUGGESTED[type],
  }));
}

/** A field as a person edits it. */
export function textOf(value: unknown): string {
  return value === undefined ? '' : String(value);
}

/** The value that a person typed. The server reports what is wrong with it. */
export function typedValue({ isInteger, suggested }: FieldInfo, text: string): unknown {
  if (isInteger && /^-?\d+$/.test(text)) return parseJson(BigInt(text).toString());
  const isFlag = suggested === SUGGESTED.boolean && /^(?:true|false)$/.test(text);
  return isFlag ? text === 'true' : text;
}
