import { parseJson } from '../../contract/json.ts';
import {
  COLLECTIONS,
  type CollectionName,
  type Field,
  ORDER_STATUSES,
  STORED_RECORDS,
} from '../../contract/records.ts';

export type Row = Readonly<Record<string, unknown>>;

export interface FieldInfo {
  readonly name: string;
  readonly type: 'integer' | 'text' | 'boolean';
  /** Values to suggest. */
  readonly values?: readonly string[] | undefined;
}

export interface TableInfo {
  readonly name: CollectionName;
  readonly title: string;
  readonly noun: string;
  /** The field that identifies a record. */
  readonly id: string;
  readonly fields: readonly FieldInfo[];
}

function table(name: CollectionName, title: string, noun: string, id = 'id'): TableInfo {
  const fields = Object.entries<Field>(STORED_RECORDS[name]).map(([field, { type, seen }]) => {
    if (type === 'boolean') return { name: field, type, values: ['true', 'false'] };
    const isInteger = type === 'int64' || type === 'integer';
    const values = type === 'orderStatus' ? ORDER_STATUSES : seen;
    return { name: field, type: isInteger ? ('integer' as const) : ('text' as const), values };
  });
  return { name, title, noun, id, fields };
}

/** The three collections of a store. */
export const TABLES: Readonly<Record<CollectionName, TableInfo>> = {
  animals: table('animals', 'Animals', 'animal'),
  inventory: table('inventory', 'Inventory', 'inventory entry', 'petId'),
  orders: table('orders', 'Orders', 'order'),
};

export const TABLE_NAMES = COLLECTIONS;

/** A field as a person edits it. */
export function textOf(value: unknown): string {
  return value === undefined ? '' : String(value);
}

/** The value that a person typed. The server reports what is wrong with it. */
export function typedValue({ type }: FieldInfo, text: string): unknown {
  if (type === 'integer' && /^-?\d+$/.test(text)) return parseJson(BigInt(text).toString());
  if (type === 'boolean' && /^(?:true|false)$/.test(text)) return text === 'true';
  return text;
}
