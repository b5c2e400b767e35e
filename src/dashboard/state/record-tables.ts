import { parseExact } from '../client/exact-json.ts';

export type Row = Readonly<Record<string, unknown>>;

export interface FieldInfo {
  readonly name: string;
  readonly type: 'integer' | 'text' | 'boolean';
  /** Values to suggest. */
  readonly values?: readonly string[];
}

export interface TableInfo {
  readonly title: string;
  readonly noun: string;
  /** The field that identifies a record. */
  readonly id: string;
  readonly fields: readonly FieldInfo[];
}

/** The three collections of a store, with the fields that a store keeps. */
export const TABLES = {
  animals: {
    title: 'Animals',
    noun: 'animal',
    id: 'id',
    fields: [
      { name: 'id', type: 'integer' },
      { name: 'name', type: 'text' },
      { name: 'categoryId', type: 'integer' },
      { name: 'status', type: 'text', values: ['available', 'pending', 'sold'] },
    ],
  },
  inventory: {
    title: 'Inventory',
    noun: 'inventory entry',
    id: 'petId',
    fields: [
      { name: 'petId', type: 'integer' },
      { name: 'quantity', type: 'integer' },
      { name: 'status', type: 'text', values: ['available', 'sold'] },
    ],
  },
  orders: {
    title: 'Orders',
    noun: 'order',
    id: 'id',
    fields: [
      { name: 'id', type: 'integer' },
      { name: 'petId', type: 'integer' },
      { name: 'quantity', type: 'integer' },
      { name: 'shipDate', type: 'text' },
      { name: 'complete', type: 'boolean', values: ['true', 'false'] },
      { name: 'status', type: 'text', values: ['pending', 'shipped', 'cancelled'] },
    ],
  },
} as const satisfies Readonly<Record<string, TableInfo>>;

export type TableName = keyof typeof TABLES;

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
