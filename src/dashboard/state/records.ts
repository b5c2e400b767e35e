import { parseJson } from '../../contract/json.ts';
import {
  type CollectionName,
  type Field,
  ORDER_STATUSES,
  STORED_RECORDS,
} from '../../contract/records.ts';

export type Row = Readonly<Record<string, unknown>>;

interface Shortcut {
  readonly label: string;
  readonly changes: Row;
  readonly done: string;
}

interface TableInfo {
  readonly noun: string;
  readonly nouns: string;
  readonly id: string;
  readonly shortcuts: (row: Row) => readonly Shortcut[];
}

export const TABLES: Readonly<Record<CollectionName, TableInfo>> = {
  animals: { noun: 'animal', nouns: 'animals', id: 'id', shortcuts: () => [] },
  inventory: {
    noun: 'inventory entry',
    nouns: 'inventory entries',
    id: 'petId',
    shortcuts: ({ quantity, petId }) => {
      const changes = { quantity: 0, status: 'sold' };
      const done = `Animal ${petId} is sold out.`;
      return quantity === 0 ? [] : [{ label: 'Sell out', changes, done }];
    },
  },
  orders: {
    noun: 'order',
    nouns: 'orders',
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
  readonly suggested: readonly string[] | undefined;
}

const SUGGESTED: Partial<Record<Field['type'], readonly string[]>> = {
  boolean: ['true', 'false'],
  orderStatus: ORDER_STATUSES,
};

export function listFields(name: CollectionName): readonly FieldInfo[] {
  return Object.entries<Field>(STORED_RECORDS[name]).map(([field, { type, seen }]) => ({
    name: field,
    isInteger: type === 'int64' || type === 'integer',
    suggested: seen ?? SUGGESTED[type],
  }));
}

export function formatValue(value: unknown): string {
  return value === undefined ? '' : String(value);
}

export function parseValue({ isInteger, suggested }: FieldInfo, text: string): unknown {
  if (isInteger && /^-?\d+$/.test(text)) return parseJson(BigInt(text).toString());
  const isFlag = suggested === SUGGESTED.boolean && /^(?:true|false)$/.test(text);
  return isFlag ? text === 'true' : text;
}
