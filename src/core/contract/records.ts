import { type Int64, toInt64 } from '../json.ts';
import { LIMITS } from '../limits.ts';
import { type Member, type ObjectMembers, object, optional, required } from '../shape/objects.ts';
import {
  ANY_TEXT,
  choice,
  FLAG,
  type InputOf,
  type Shape,
  scalar,
  type ValueOf,
} from '../shape/shapes.ts';
import { DATE_TIME } from './date-time.ts';

/** The statuses that the document has seen. It does not rule out others. */
export const SEEN_ANIMAL_STATUSES = ['available', 'pending', 'sold'] as const;
const SEEN_INVENTORY_STATUSES = ['available', 'sold'] as const;

/** The cancel rule mentions these statuses. An order of the document has no such field. */
export const ORDER_STATUSES = ['pending', 'shipped', 'cancelled'] as const;
export type OrderStatus = (typeof ORDER_STATUSES)[number];

export const INT64 = scalar<bigint, Int64>(
  'an integer from -2^63 to 2^63-1',
  { type: 'integer', format: 'int64' },
  toInt64,
);

/** An integer that a double holds exactly. */
export const INTEGER = scalar<number>(
  'an integer from -(2^53-1) to 2^53-1, the limit of the mock',
  { type: 'integer' },
  (value) => (typeof value === 'number' && Number.isSafeInteger(value) ? value : undefined),
);

export const TEXT = bounded(ANY_TEXT);

/** Limits the length: lists, the journal and remembered states hold whole records. */
function bounded(shape: Shape<string, string>): Shape<string, string> {
  return {
    ...shape,
    read(value, at, report) {
      if (typeof value !== 'string' || value.length <= LIMITS.recordText)
        return shape.read(value, at, report);
      return report({
        at,
        expected: `at most ${LIMITS.recordText} characters`,
        found: `${value.length}`,
      });
    },
  };
}

/** Text that is usually one of these values, which an editor offers as examples. */
export function textLike(seen: readonly string[]): Shape<string, string> {
  return { ...TEXT, schema: { ...TEXT.schema, examples: seen, 'x-seen-values': seen } };
}

/** The values of a text that the document has seen, or those of its enum. */
export function knownValues({ schema }: Shape<unknown>): readonly string[] {
  const values = schema['x-seen-values'] ?? schema.enum;
  return Array.isArray(values) ? values : [];
}

/** Ignores unknown members, which clients and deployments may send: see `unknownMembers`. */
const OPEN = { open: true } as const;

export const RECORDS = {
  Animal: object(
    {
      id: required(INT64, 'Assigned by the service on creation.', 1),
      name: required(TEXT, "The animal's name.", 'Rex'),
      categoryId: required(INT64, 'The category the animal belongs to; a bare identifier.', 1),
      status: optional(
        textLike(SEEN_ANIMAL_STATUSES),
        'Availability. The complete list of values is not documented.',
        'available',
      ),
    },
    OPEN,
  ),
  InventoryEntry: object(
    {
      petId: required(INT64, 'The animal the entry tracks.', 1),
      quantity: required(INTEGER, 'Current stock count.', 5),
      status: required(
        textLike(SEEN_INVENTORY_STATUSES),
        'Status of the entry. The complete list of values is not documented.',
        'available',
      ),
    },
    OPEN,
  ),
  Order: object(
    {
      id: optional(INT64, 'Unique order identifier.', 1),
      petId: optional(INT64, 'The animal in this order.', 1),
      quantity: optional(INTEGER, 'Number of units ordered.', 2),
      shipDate: optional(
        bounded(DATE_TIME),
        'Expected or actual ship date, ISO 8601.',
        '2031-01-15T09:30:00Z',
      ),
      complete: optional(FLAG, 'Whether the order has been fulfilled.', false),
    },
    OPEN,
  ),
  Error: object(
    {
      code: required(TEXT, 'Machine-readable error code.', 'order_not_found'),
      message: required(TEXT, 'Human-readable description.', 'no order has the id 99'),
      status: required(INTEGER, 'The HTTP status code.', 404),
    },
    OPEN,
  ),
} as const;

export type RecordName = keyof typeof RECORDS;

const { members: ORDER } = RECORDS.Order;

/** A stored order must have an id, unlike an order in the document, and it has a status. */
const STORED = {
  animals: object(RECORDS.Animal.members),
  inventory: object(RECORDS.InventoryEntry.members),
  orders: object({
    ...ORDER,
    id: required(INT64, ORDER.id.description, 1),
    status: {
      ...optional(
        choice(ORDER_STATUSES),
        'The state for the cancel rule; pending if absent.',
        'pending',
      ),
      default: 'pending',
    },
  }),
} as const;

export type CollectionName = keyof typeof STORED;

export const COLLECTIONS: readonly CollectionName[] = ['animals', 'inventory', 'orders'];

export type StoredMembers = {
  readonly [Name in CollectionName]: (typeof STORED)[Name]['members'];
};
export type StoredRecord = {
  readonly [Name in CollectionName]: ValueOf<(typeof STORED)[Name]>;
};
/** The JSON of a record: an int64 is a bigint only where a double would lose digits. */
export interface RecordJson {
  readonly animals: AnimalJson;
  readonly inventory: EntryJson;
  readonly orders: OrderJson;
}
/* Named, so that published types refer to these records instead of spelling them out. */
export interface AnimalJson extends JsonOf<'animals'> {}
export interface EntryJson extends JsonOf<'inventory'> {}
export interface OrderJson extends JsonOf<'orders'> {}

type JsonOf<Name extends CollectionName> = WithoutUndefined<InputOf<(typeof STORED)[Name]>>;
type WithoutUndefined<R> = { readonly [Name in keyof R]: Exclude<R[Name], undefined> };

export const STORED_RECORDS: {
  readonly [Name in CollectionName]: Shape<StoredRecord[Name], InputOf<(typeof STORED)[Name]>> & {
    readonly members: StoredMembers[Name];
  };
} = STORED;

export type Animal = StoredRecord['animals'];
export type InventoryEntry = StoredRecord['inventory'];
export type Order = StoredRecord['orders'];
export type ErrorBody = ValueOf<typeof RECORDS.Error>;

export type AnyRecord = Readonly<Record<string, unknown>>;

export function exampleOf(
  members: ObjectMembers,
  isShown = (_member: Member<unknown>) => true,
): object {
  const shown = Object.entries(members).filter(([, member]) => isShown(member));
  return Object.fromEntries(shown.map(([name, { example }]) => [name, example]));
}

export function unknownMembers(members: ObjectMembers, value: object): string[] {
  return Object.keys(value).filter((name) => !Object.hasOwn(members, name));
}
