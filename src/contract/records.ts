import { isLosslessNumber } from 'lossless-json';
import type { Problem } from '../words.ts';
import { toInt64 } from './int64.ts';

/** The statuses that the document has seen. It does not exclude others. */
export const SEEN_ANIMAL_STATUSES = ['available', 'pending', 'sold'] as const;
const SEEN_INVENTORY_STATUSES = ['available', 'sold'] as const;

/** The states of the cancel rule. The document's order has no such field. */
export const ORDER_STATUSES = ['pending', 'shipped', 'cancelled'] as const;
export type OrderStatus = (typeof ORDER_STATUSES)[number];

/** An RFC 3339 instant: a full date, `T`, a time, and `Z` or an offset. */
export const DATE_TIME =
  /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])[Tt](?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;

function isInstant(text: string): boolean {
  if (!DATE_TIME.test(text) || Number.isNaN(Date.parse(text))) return false;
  // Date.parse reads February 30 as March 2.
  const day = text.slice(0, 'yyyy-mm-dd'.length);
  return new Date(day).getUTCDate() === Number(day.slice(-2));
}

interface FieldTypeShape {
  /** The expectation in messages. */
  readonly expected: string;
  /** The JSON Schema keywords of the type. */
  readonly schema: Readonly<Record<string, unknown>>;
  /** Converts a JSON value; undefined if it has another type. */
  readonly read: (value: unknown) => unknown;
}

/** The types of fields. */
export const FIELD_TYPES = {
  int64: {
    expected: 'an integer from -2^63 to 2^63-1',
    schema: { type: 'integer', format: 'int64' },
    read: toInt64,
  },
  integer: {
    expected: 'an integer from -(2^53-1) to 2^53-1',
    schema: { type: 'integer' },
    read: (value: unknown): number | undefined =>
      typeof value === 'number' && Number.isSafeInteger(value) ? value : undefined,
  },
  string: {
    expected: 'a string',
    schema: { type: 'string' },
    read: (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined),
  },
  boolean: {
    expected: 'true or false',
    schema: { type: 'boolean' },
    read: (value: unknown): boolean | undefined => (typeof value === 'boolean' ? value : undefined),
  },
  dateTime: {
    expected: 'an ISO 8601 date-time such as "2026-11-21T09:30:00Z"',
    schema: { type: 'string', format: 'date-time' },
    read: (value: unknown): string | undefined =>
      typeof value === 'string' && isInstant(value) ? value : undefined,
  },
  orderStatus: {
    expected: `one of ${ORDER_STATUSES.join(', ')}`,
    schema: { type: 'string', enum: ORDER_STATUSES },
    read: (value: unknown): OrderStatus | undefined =>
      ORDER_STATUSES.find((status) => status === value),
  },
} as const satisfies Record<string, FieldTypeShape>;

type FieldType = keyof typeof FIELD_TYPES;

/** A field of a record or of a request body. */
export interface Field {
  readonly type: FieldType;
  readonly required: boolean;
  readonly description: string;
  /** The values that the document has seen, if it calls their list incomplete. */
  readonly seen?: readonly string[];
}

export type Fields = Readonly<Record<string, Field>>;

type FieldValue<F extends Field> = NonNullable<ReturnType<(typeof FIELD_TYPES)[F['type']]['read']>>;

/** The type of a record with some fields. */
export type RecordOf<F extends Fields> = {
  readonly [Name in keyof F as F[Name]['required'] extends true ? Name : never]: FieldValue<
    F[Name]
  >;
} & {
  readonly [Name in keyof F as F[Name]['required'] extends true ? never : Name]?: FieldValue<
    F[Name]
  >;
};

/** A required field. */
const required = <const Type extends FieldType>(type: Type, description: string) =>
  ({ type, required: true, description }) as const;

/** An optional field. */
const optional = <const Type extends FieldType>(type: Type, description: string) =>
  ({ type, required: false, description }) as const;

/** The fields of the four records, in the order of replies. */
export const RECORDS = {
  Animal: {
    id: required('int64', 'Assigned by the service on creation.'),
    name: required('string', "The animal's name."),
    categoryId: required('int64', 'The category the animal belongs to; a bare identifier.'),
    status: {
      ...optional('string', 'Availability. The complete list of values is not documented.'),
      seen: SEEN_ANIMAL_STATUSES,
    },
  },
  InventoryEntry: {
    petId: required('int64', 'The animal the entry tracks.'),
    quantity: required('integer', 'Current stock count.'),
    status: {
      ...required('string', 'Status of the entry. The complete list of values is not documented.'),
      seen: SEEN_INVENTORY_STATUSES,
    },
  },
  Order: {
    id: optional('int64', 'Unique order identifier.'),
    petId: optional('int64', 'The animal in this order.'),
    quantity: optional('integer', 'Number of units ordered.'),
    shipDate: optional('dateTime', 'Expected or actual ship date, ISO 8601.'),
    complete: optional('boolean', 'Whether the order has been fulfilled.'),
  },
  Error: {
    code: required('string', 'Machine-readable error code.'),
    message: required('string', 'Human-readable description.'),
    status: required('integer', 'The HTTP status code.'),
  },
} as const satisfies Record<string, Fields>;

export type RecordName = keyof typeof RECORDS;

/** The fields of stored records. Unlike a documented order, a stored one must have an id, and has a status. */
export const STORED_RECORDS = {
  animals: RECORDS.Animal,
  inventory: RECORDS.InventoryEntry,
  orders: {
    ...RECORDS.Order,
    id: { ...RECORDS.Order.id, required: true },
    status: optional('orderStatus', 'The state for the cancel rule; pending if absent.'),
  },
} as const satisfies Record<string, Fields>;

export type CollectionName = keyof typeof STORED_RECORDS;

/** The names of the collections, in the order of fixtures. */
export const COLLECTIONS: readonly CollectionName[] = ['animals', 'inventory', 'orders'];

export type Animal = RecordOf<typeof RECORDS.Animal>;
export type InventoryEntry = RecordOf<typeof RECORDS.InventoryEntry>;
export type Order = RecordOf<typeof STORED_RECORDS.orders>;
/** The type of the records of each collection. */
export type StoredRecord = {
  readonly [Name in CollectionName]: RecordOf<(typeof STORED_RECORDS)[Name]>;
};
export type ErrorBody = RecordOf<typeof RECORDS.Error>;

/** A record of any collection, as members by name. */
export type AnyRecord = Readonly<Record<string, unknown>>;

export type Reading<T, P extends Problem = Problem> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problems: readonly P[] };

/** The names of members that are not fields. */
export function unknownMembers(fields: Fields, value: object): string[] {
  return Object.keys(value).filter((name) => !Object.hasOwn(fields, name));
}

/** Whether a JSON value is an object. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && !isLosslessNumber(value)
  );
}
