/** The statuses that the document has seen. It does not exclude others. */
export const SEEN_ANIMAL_STATUSES = ['available', 'pending', 'sold'] as const;
const SEEN_INVENTORY_STATUSES = ['available', 'sold'] as const;

/** Of the cancel rule. The document's order has no such field. */
export const ORDER_STATUSES = ['pending', 'shipped', 'cancelled'] as const;
export type OrderStatus = (typeof ORDER_STATUSES)[number];

export interface FieldValues {
  readonly int64: bigint;
  /** One that a double holds. */
  readonly integer: number;
  readonly string: string;
  readonly boolean: boolean;
  readonly dateTime: string;
  readonly orderStatus: OrderStatus;
}

type FieldType = keyof FieldValues;

export interface Field {
  readonly type: FieldType;
  readonly required: boolean;
  readonly description: string;
  /** As JSON has it. */
  readonly example: string | number | boolean;
  /** Of a stored record without it. */
  readonly default?: string;
  /** The values that the document has seen, if it calls their list incomplete. */
  readonly seen?: readonly string[];
}

export type Fields = Readonly<Record<string, Field>>;

export type RecordOf<F extends Fields> = {
  readonly [Name in keyof F as F[Name]['required'] extends true
    ? Name
    : never]: FieldValues[F[Name]['type']];
} & {
  readonly [Name in keyof F as F[Name]['required'] extends true
    ? never
    : Name]?: FieldValues[F[Name]['type']];
};

const required = <const Type extends FieldType>(
  type: Type,
  description: string,
  example: Field['example'],
) => ({ type, required: true, description, example }) as const;

const optional = <const Type extends FieldType>(
  type: Type,
  description: string,
  example: Field['example'],
) => ({ type, required: false, description, example }) as const;

export const RECORDS = {
  Animal: {
    id: required('int64', 'Assigned by the service on creation.', 1),
    name: required('string', "The animal's name.", 'Rex'),
    categoryId: required('int64', 'The category the animal belongs to; a bare identifier.', 1),
    status: {
      ...optional(
        'string',
        'Availability. The complete list of values is not documented.',
        'available',
      ),
      seen: SEEN_ANIMAL_STATUSES,
    },
  },
  InventoryEntry: {
    petId: required('int64', 'The animal the entry tracks.', 1),
    quantity: required('integer', 'Current stock count.', 5),
    status: {
      ...required(
        'string',
        'Status of the entry. The complete list of values is not documented.',
        'available',
      ),
      seen: SEEN_INVENTORY_STATUSES,
    },
  },
  Order: {
    id: optional('int64', 'Unique order identifier.', 1),
    petId: optional('int64', 'The animal in this order.', 1),
    quantity: optional('integer', 'Number of units ordered.', 2),
    shipDate: optional(
      'dateTime',
      'Expected or actual ship date, ISO 8601.',
      '2031-01-15T09:30:00Z',
    ),
    complete: optional('boolean', 'Whether the order has been fulfilled.', false),
  },
  Error: {
    code: required('string', 'Machine-readable error code.', 'order_not_found'),
    message: required('string', 'Human-readable description.', 'no order has the id 99'),
    status: required('integer', 'The HTTP status code.', 404),
  },
} as const satisfies Record<string, Fields>;

export type RecordName = keyof typeof RECORDS;

/** Unlike a documented order, a stored one must have an id, and has a status. */
export const STORED_RECORDS = {
  animals: RECORDS.Animal,
  inventory: RECORDS.InventoryEntry,
  orders: {
    ...RECORDS.Order,
    id: { ...RECORDS.Order.id, required: true },
    status: {
      ...optional('orderStatus', 'The state for the cancel rule; pending if absent.', 'pending'),
      default: 'pending',
    },
  },
} as const satisfies Record<string, Fields>;

export type CollectionName = keyof typeof STORED_RECORDS;

export const COLLECTIONS: readonly CollectionName[] = ['animals', 'inventory', 'orders'];

export type Animal = RecordOf<typeof RECORDS.Animal>;
export type InventoryEntry = RecordOf<typeof RECORDS.InventoryEntry>;
export type Order = RecordOf<typeof STORED_RECORDS.orders>;
export type StoredRecord = {
  readonly [Name in CollectionName]: RecordOf<(typeof STORED_RECORDS)[Name]>;
};
export type ErrorBody = RecordOf<typeof RECORDS.Error>;

export type AnyRecord = Readonly<Record<string, unknown>>;

export function exampleOf(fields: Fields, isShown = (_field: Field) => true): object {
  const shown = Object.entries(fields).filter(([, field]) => isShown(field));
  return Object.fromEntries(shown.map(([name, { example }]) => [name, example]));
}

export function unknownMembers(fields: Fields, value: object): string[] {
  return Object.keys(value).filter((name) => !Object.hasOwn(fields, name));
}
