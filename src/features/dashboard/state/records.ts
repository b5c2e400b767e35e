import {
  type CollectionName,
  type Field,
  ORDER_STATUSES,
  STORED_RECORDS,
} from '../../../core/contract/records.ts';
import { parseJson } from '../../../core/json.ts';

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
