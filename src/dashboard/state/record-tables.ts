import type { CollectionName, StoredRecord } from '../../contract/records.ts';
import { parseExact } from '../client/exact-json.ts';

export type Row = Readonly<Record<string, unknown>>;

interface FieldKind {
  readonly type: 'integer' | 'text' | 'boolean';
  /** Values to suggest. */
  readonly values?: readonly string[];
}

export interface FieldInfo extends FieldKind {
  readonly name: string;
}

export type TableName = CollectionName;

export interface TableInfo {
  readonly title: string;
  readonly noun: string;
  /** The field that identifies a record. */
  readonly id: string;
  readonly fields: readonly FieldInfo[];
}

const INTEGER: FieldKind = { type: 'integer' };
const TEXT: FieldKind = { type: 'text' };
const oneOf = (...values: readonly string[]): FieldKind => ({ type: 'text', values });

/** Describes a collection. A field that is missing or misspelt does not compile. */
function table<Name extends TableName>(
  title: string,
  noun: string,
  id: keyof StoredRecord[Name] & string,
  kinds: Readonly<Record<keyof StoredRecord[Name], FieldKind>>,
): TableInfo {
  const fields = Object.entries<FieldKind>(kinds).map(([name, kind]) => ({ name, ...kind }));
  return { title, noun, id, fields };
}

/** The three collections of a store. */
export const TABLES: Readonly<Record<TableName, TableInfo>> = {
  animals: table<'animals'>('Animals', 'animal', 'id', {
    id: INTEGER,
    name: TEXT,
    categoryId: INTEGER,
    status: oneOf('available', 'pending', 'sold'),
  }),
  inventory: table<'inventory'>('Inventory', 'inventory entry', 'petId', {
    petId: INTEGER,
    quantity: INTEGER,
    status: oneOf('available', 'sold'),
  }),
  orders: table<'orders'>('Orders', 'order', 'id', {
    id: INTEGER,
    petId: INTEGER,
    quantity: INTEGER,
    shipDate: TEXT,
    complete: { type: 'boolean', values: ['true', 'false'] },
    status: oneOf('pending', 'shipped', 'cancelled'),
  }),
};

export const TABLE_NAMES: readonly TableName[] = ['animals', 'inventory', 'orders'];

/** A field as a person edits it. */
export function textOf(value: unknown): string {
  return value === undefined ? '' : String(value);
}

/** The value that a person typed. The server reports what is wrong with it. */
export function typedValue({ type }: FieldInfo, text: string): unknown {
  if (type === 'integer' && /^-?\d+$/.test(text)) return parseExact(BigInt(text).toString());
  if (type === 'boolean' && /^(?:true|false)$/.test(text)) return text === 'true';
  return text;
}
