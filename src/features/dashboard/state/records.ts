import {
  type CollectionName,
  knownValues,
  STORED_RECORDS,
} from '../../../core/contract/records.ts';
import { parseJson } from '../../../core/json.ts';
import type { ObjectMembers } from '../../../core/shape/objects.ts';

export type Row = Readonly<Record<string, unknown>>;

/** What a record is called, and the field that it is found by. */
export const TABLES = {
  animals: { noun: 'animal', nouns: 'animals', id: 'id' },
  inventory: { noun: 'inventory entry', nouns: 'inventory entries', id: 'petId' },
  orders: { noun: 'order', nouns: 'orders', id: 'id' },
} as const satisfies Record<CollectionName, object>;

const STEPS = {
  Ship: ['shipped', 'has shipped. Cancelling it now gets 409.'],
  Cancel: ['cancelled', 'is cancelled.'],
  'Back to pending': ['pending', 'is pending. Cancelling it now gets 204.'],
} as const;

/** What one press does to a record. */
export function listShortcuts(name: CollectionName, { id, petId, quantity, status }: Row) {
  if (name === 'inventory' && quantity !== 0) {
    const done = `Animal ${petId} is sold out.`;
    return [{ label: 'Sell out', changes: { quantity: 0, status: 'sold' }, done }];
  }
  if (name !== 'orders') return [];
  const isOver = status === 'shipped' || status === 'cancelled';
  const labels = isOver ? (['Back to pending'] as const) : (['Ship', 'Cancel'] as const);
  return labels.map((label) => {
    const [next, done] = STEPS[label];
    return { label, changes: { status: next }, done: `Order ${id} ${done}` };
  });
}

export interface FieldInfo {
  readonly name: string;
  readonly isInteger: boolean;
  readonly isFlag: boolean;
  readonly suggested: readonly string[];
}

export function listFields(name: CollectionName): readonly FieldInfo[] {
  const members: ObjectMembers = STORED_RECORDS[name].members;
  return Object.entries(members).map(([field, { shape }]) => {
    const { type } = shape.schema;
    const isFlag = type === 'boolean';
    const suggested = isFlag ? ['true', 'false'] : knownValues(shape);
    return { name: field, isInteger: type === 'integer', isFlag, suggested };
  });
}

export function formatValue(value: unknown): string {
  return value === undefined ? '' : String(value);
}

export function parseValue({ isInteger, isFlag }: FieldInfo, text: string): unknown {
  if (isInteger && /^-?\d+$/.test(text)) return parseJson(BigInt(text).toString());
  return isFlag && /^(?:true|false)$/.test(text) ? text === 'true' : text;
}
