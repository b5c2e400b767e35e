import { OPTION_REPLIES } from './assumption-table.ts';
import { isIntegerText, parseInt64 } from './json.ts';
import { OPERATION_IDS, type OperationId, operationShape } from './operations.ts';
import { type AnyRecord, type Fields, isObject, RECORDS, SEEN_ANIMAL_STATUSES } from './records.ts';

/** A status that an operation can answer with. */
export interface PossibleReply {
  readonly operation: OperationId;
  readonly status: number;
  readonly description: string;
  /** The options that lead to it, as `id=option`; none if the document prescribes it. */
  readonly grounds: readonly string[];
}

/** The replies that the document prescribes. */
export const DOCUMENTED_REPLIES: readonly PossibleReply[] = OPERATION_IDS.flatMap((operation) =>
  Object.entries(operationShape(operation).replies).map(([status, { description }]) => ({
    operation,
    status: Number(status),
    description,
    grounds: [],
  })),
);

/** The replies that fill gaps of the document, under all options. */
export const ASSUMED_REPLIES: readonly PossibleReply[] = OPERATION_IDS.flatMap((operation) => {
  const added = OPTION_REPLIES.filter((it) => it.operation === operation);
  const statuses = new Set(added.map(({ status }) => status));
  return [...statuses]
    .sort((a, b) => a - b)
    .map((status) => {
      const here = added.filter((it) => it.status === status);
      const [{ description = '' } = {}] = here;
      return { operation, status, description, grounds: here.map(({ ground }) => ground) };
    });
});

/** A call and its reply, as far as cases are about them. */
export interface CaseCall {
  readonly query: readonly (readonly [name: string, value: string])[];
  /** The path parameter. */
  readonly pathId: string | undefined;
  /** The JSON value of the request's body. */
  readonly input: unknown;
  readonly isTokenSent: boolean;
  /** Whether the reply has a `Sunset` header. */
  readonly hasSunset: boolean;
  /** Whether an order was cancelled before. */
  readonly wasCancelled: boolean;
}

/** Whether a reply shows a case: by its call, by one of its records, or by having none. */
export type CaseTest =
  | { readonly by: 'call'; readonly test: (call: CaseCall) => boolean }
  | { readonly by: 'record'; readonly test: (record: AnyRecord) => boolean }
  | { readonly by: 'no record' };

/** A case that the document distinguishes within a reply. */
export interface DocumentedCase {
  /** Unique within the reply. */
  readonly id: string;
  readonly operation: OperationId;
  readonly status: number;
  readonly sentence: string;
}

type CaseRow = readonly [sentence: string, shows: CaseTest];

const byCall = (test: (call: CaseCall) => boolean): CaseTest => ({ by: 'call', test });
const byRecord = (test: (record: AnyRecord) => boolean): CaseTest => ({ by: 'record', test });
const BY_NO_RECORD: CaseTest = { by: 'no record' };

const byLimit = (test: (limit: number) => boolean): CaseTest =>
  byCall(({ query }) => {
    const limits = query.filter(([name]) => name === 'limit');
    return (
      limits.length === 1 && isIntegerText(limits[0]?.[1] ?? '') && test(Number(limits[0]?.[1]))
    );
  });

const hasFilter = ({ query }: CaseCall): boolean => query.some(([name]) => name === 'status');

const byStatus = (status: string): CaseTest => byRecord((record) => record.status === status);

const isAbsent = (value: unknown): boolean => value === undefined || value === null;

/** A status that the document has not seen in records of a kind. */
const byUnseenStatus = (fields: Fields): CaseTest =>
  byRecord(
    ({ status }) => typeof status === 'string' && fields.status?.seen?.includes(status) !== true,
  );

const BY_LARGE_ID = byRecord((record) => Object.values(record).some(isLargeId));

/** Whether a value is an id that a double rounds. Only ids are bigints. */
function isLargeId(value: unknown): boolean {
  return typeof value === 'bigint' && !Number.isSafeInteger(Number(value));
}

const orderFields = Object.keys(RECORDS.Order);

const byCreation = (hasStatus: boolean): CaseTest =>
  byCall(({ input }) => isObject(input) && Object.hasOwn(input, 'status') === hasStatus);

const byQuantity = (test: (quantity: number) => boolean): CaseTest =>
  byCall(({ input }) => {
    const quantity = isObject(input) ? input.quantity : undefined;
    return typeof quantity === 'number' && test(quantity);
  });

type CaseRows = Readonly<Record<string, CaseRow>>;

/** For every operation: "Missing or invalid API key". */
const UNAUTHORIZED: CaseRows = {
  'key-missing': ['No API key is sent.', byCall(({ isTokenSent }) => !isTokenSent)],
  'key-invalid': [
    'An API key is sent, but it is invalid.',
    byCall(({ isTokenSent }) => isTokenSent),
  ],
};

/** The statuses of an animal. */
function animalStatuses(prefix: string, animal: string): CaseRows {
  const seen = SEEN_ANIMAL_STATUSES.map((status): [string, CaseRow] => [
    `${prefix}-${status}`,
    [`${animal} has the status ${status}.`, byStatus(status)],
  ]);
  return {
    ...Object.fromEntries(seen),
    [`${prefix}-without-status`]: [
      `${animal} has no status, which is optional.`,
      byRecord(({ status }) => isAbsent(status)),
    ],
    [`${prefix}-unseen-status`]: [
      `${animal} has a status that the document has not seen.`,
      byUnseenStatus(RECORDS.Animal),
    ],
  };
}

const ENTRY: CaseRows = {
  'entry-available': ['An inventory entry has the status available.', byStatus('available')],
  'entry-sold': ['An inventory entry has the status sold.', byStatus('sold')],
  'entry-unseen-status': [
    'An inventory entry has a status that the document has not seen.',
    byUnseenStatus(RECORDS.InventoryEntry),
  ],
};

const largeId = (prefix: string, id: string, shows = BY_LARGE_ID): CaseRows => ({
  [`${prefix}-large-id`]: [`${id} is beyond 2^53, where a double rounds it.`, shows],
});

/** The cases of each reply but a 401. A case of several operations has the same id in each. */
const CASES: Readonly<Record<OperationId, Readonly<Record<number, CaseRows>>>> = {
  listPets: {
    200: {
      'limit-absent': [
        'No limit is given, so the page has at most 20 animals.',
        byCall(({ query }) => !query.some(([name]) => name === 'limit')),
      ],
      'limit-1': ['The smallest limit, 1.', byLimit((limit) => limit === 1)],
      'limit-between': ['A limit from 2 to 99.', byLimit((limit) => limit > 1 && limit < 100)],
      'limit-100': ['The largest limit, 100.', byLimit((limit) => limit === 100)],
      'filter-unused': ['The call does not filter by status.', byCall((call) => !hasFilter(call))],
      'filter-used': ['The call asks for animals with one status only.', byCall(hasFilter)],
      'page-empty': ['There is no animal on the page.', BY_NO_RECORD],
      ...animalStatuses('page', 'An animal on the page'),
      ...largeId('page', 'An id on the page'),
    },
  },
  createPet: {
    201: {
      'created-with-status': ['The animal is created with a status.', byCreation(true)],
      'created-without-status': [
        'The animal is created without a status, which is optional.',
        byCreation(false),
      ],
      ...largeId('created', 'An id of the animal'),
    },
  },
  getPet: {
    200: {
      ...animalStatuses('pet', 'The animal'),
      'pet-sunset': [
        'The reply says in its Sunset header when the operation ends.',
        byCall(({ hasSunset }) => hasSunset),
      ],
      ...largeId('pet', 'An id of the animal'),
    },
  },
  listInventory: {
    200: {
      'inventory-empty': ['There is no inventory entry.', BY_NO_RECORD],
      ...ENTRY,
      ...largeId('inventory', 'A petId'),
    },
  },
  updateInventory: {
    200: {
      'quantity-0': ['The quantity is set to 0.', byQuantity((quantity) => quantity === 0)],
      'quantity-above': [
        'The quantity is set to more than 0.',
        byQuantity((quantity) => quantity > 0),
      ],
      ...ENTRY,
      ...largeId('inventory', 'The petId'),
    },
  },
  listOrders: {
    200: {
      'orders-empty': ['There is no order.', BY_NO_RECORD],
      'order-all-fields': [
        'An order has all its fields.',
        byRecord((order) => !orderFields.some((name) => isAbsent(order[name]))),
      ],
      'order-absent-fields': [
        'An order lacks fields: all of them are optional.',
        byRecord((order) => orderFields.some((name) => isAbsent(order[name]))),
      ],
      'order-complete': ['An order is complete.', byRecord(({ complete }) => complete === true)],
      'order-incomplete': [
        'An order is not complete.',
        byRecord(({ complete }) => complete === false),
      ],
      ...largeId('order', 'An id of an order'),
    },
  },
  cancelOrder: {
    204: largeId(
      'cancelled',
      'The orderId',
      byCall(({ pathId }) => isLargeId(parseInt64(pathId ?? ''))),
    ),
    409: {
      'order-shipped': [
        'The order has shipped, rather than been cancelled before.',
        byCall(({ wasCancelled }) => !wasCancelled),
      ],
    },
  },
};

/** The cases within replies that the document distinguishes. */
export const DOCUMENTED_CASES: readonly (DocumentedCase & { readonly shows: CaseTest })[] =
  DOCUMENTED_REPLIES.flatMap(({ operation, status }) => {
    const rows = status === 401 ? UNAUTHORIZED : (CASES[operation][status] ?? {});
    return Object.entries(rows).map(([id, [sentence, shows]]) => ({
      id,
      operation,
      status,
      sentence,
      shows,
    }));
  });
