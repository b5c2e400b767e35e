import { toInt64 } from '../contract/int64.ts';

export type JsonRecord = Readonly<Record<string, unknown>>;

/** The id in a field, also of a deployment that writes it as a string. */
export function idIn(record: JsonRecord | undefined, field = 'id'): bigint | undefined {
  const value = record?.[field];
  return toInt64(typeof value === 'string' && /^-?\d{1,19}$/.test(value) ? BigInt(value) : value);
}

export function idsOf(records: readonly JsonRecord[] | undefined, field?: string): bigint[] {
  return (records ?? []).flatMap((record) => idIn(record, field) ?? []);
}

/** The record of a list with this id. */
export function withId(
  records: readonly JsonRecord[] | undefined,
  id: bigint | undefined,
  field = 'id',
): JsonRecord | undefined {
  return id === undefined ? undefined : records?.find((it) => idIn(it, field) === id);
}

/** Whether a double can hold an id. */
export function isDouble(id: bigint): boolean {
  return id === BigInt(Number(id));
}
