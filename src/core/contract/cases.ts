import { findHeader, type RawHeaders } from '../raw-http.ts';
import { OPTION_REPLIES } from './assumption-table.ts';
import { parseInt64 } from './json.ts';
import { OPERATION_IDS, type OperationId, operationShape } from './operations.ts';
import { type AnyRecord, type Field, isObject, RECORDS, SEEN_ANIMAL_STATUSES } from './records.ts';

export interface PossibleReply {
  readonly operation: OperationId;
  readonly status: number;
  readonly description: string;
  /** The options that lead to it, as `id=option`; none if the document prescribes it. */
  readonly grounds: readonly string[];
}

export const DOCUMENTED_REPLIES: readonly PossibleReply[] = OPERATION_IDS.flatMap((operation) =>
  Object.entries(operationShape(operation).replies).map(([status, { description }]) => ({
    operation,
    status: Number(status),
    description,
    grounds: [],
  })),
);

export const ASSUMED_REPLIES: readonly PossibleReply[] = OPERATION_IDS.flatMap((operation) => {
  const added = OPTION_REPLIES.filter((reply) => reply.operation === operation);
  const statuses = new Set(added.map(({ status }) => status));
  return [...statuses]
    .sort((a, b) => a - b)
    .map((status) => {
      const here = added.filter((reply) => reply.status === status);
      const [{ description = '' } = {}] = here;
      return { operation, status, description, grounds: here.map(({ ground }) => ground) };
    });
});

export interface CaseReply {
  readonly query: readonly (readonly [name: string, value: string])[];
  readonly pathId: string | undefined;
  readonly input: unknown;
  readonly isTokenSent: boolean;
  readonly headers: RawHeaders;
  readonly wasCancelled: boolean;
  /** The records in the reply; undefined if it cannot have any. */
  readonly records: readonly AnyRecord[] | undefined;
}

type CaseTest = (reply: CaseReply) => boolean;

const findParameter = ({ query }: CaseReply, name: string): string | undefined =>
  query.find((pair) => pair[0] === name)?.[1];

const byLimit =
  (test: (limit: number) => boolean): CaseTest =>
  (reply) =>
    test(Number(findParameter(reply, 'limit')));

const hasFilter: CaseTest = (reply) => findParameter(reply, 'status') !== undefined;

/** Records read of a long list; later ones rarely show anything new. */
const MAX_RECORDS_READ = 2000;

function byRecord(test: (record: AnyRecord) => boolean): CaseTest {
  // A list is the same object until a record changes.
  const ofLists = new WeakMap<readonly AnyRecord[], boolean>();
  return ({ records = [] }) => {
    if (records.length < 2) return records.some(test);
    let isShown = ofLists.get(records);
    if (isShown === undefined) {
      isShown = records.slice(0, MAX_RECORDS_READ).some(test);
      ofLists.set(records, isShown);
    }
    return isShown;
  };
}

const byNoRecord: CaseTest = ({ records }) => records?.length === 0;
const byStatus = (status: string): CaseTest => byRecord((record) => record.status === status);
const byUnseenStatus = ({ status: { seen } }: { readonly status: Field }): CaseTest =>
  byRecord(({ status }) => typeof status === 'string' && seen?.includes(status) !== true);

const isAbsent = (value: unknown): boolean => value === undefined || value === null;
const lacksField = (order: AnyRecord) =>
  Object.keys(RECORDS.Order).some((name) => isAbsent(order[name]));

/** Whether a value is an id that a double rounds. Only ids are bigints. */
const isLargeId = (value: unknown): boolean =>
  typeof value === 'bigint' && !Number.isSafeInteger(Number(value));
const byLargeId = byRecord((record) => Object.values(record).some(isLargeId));

const byCreation =
  (hasStatus: boolean): CaseTest =>
  ({ input }) =>
    isObject(input) && Object.hasOwn(input, 'status') === hasStatus;

const byQuantity =
  (test: (quantity: number) => boolean): CaseTest =>
  ({ input }) =>
    isObject(input) && test(Number(input.quantity));

type CaseRows = Readonly<Record<string, readonly [sentence: string, shows: CaseTest]>>;

const UNAUTHORIZED: CaseRows = {
  'key-missing': ['No API key is sent.', ({ isTokenSent }) => !isTokenSent],
  'key-invalid': ['An API key is sent, but it is invalid.', ({ isTokenSent }) => isTokenSent],
};

function animalStatuses(prefix: string, animal: string): CaseRows {
  const seen = SEEN_ANIMAL_STATUSES.map((status): [string, CaseRows[string]] => [
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

const largeId = (prefix: string, id: string, shows = byLargeId): CaseRows => ({
  [`${prefix}-large-id`]: [`${id} is beyond 2^53, where a double rounds it.`, shows],
});

/** By operation and status, besides the 401 that all share. */
const CASES: Readonly<Record<OperationId, Readonly<Record<number, CaseRows>>>> = {
  listPets: {
    200: {
      'limit-absent': [
        'No limit is given, so the page has at most 20 animals.',
        (reply) => findParameter(reply, 'limit') === undefined,
      ],
      'limit-1': ['The smallest limit, 1.', byLimit((limit) => limit === 1)],
      'limit-between': ['A limit from 2 to 99.', byLimit((limit) => limit > 1 && limit < 100)],
      'limit-100': ['The largest limit, 100.', byLimit((limit) => limit === 100)],
      'filter-unused': ['The call does not filter by status.', (reply) => !hasFilter(reply)],
      'filter-used': ['The call asks for animals with one status only.', hasFilter],
      'page-empty': ['There is no animal on the page.', byNoRecord],
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
        ({ headers }) => findHeader(headers, 'sunset') !== undefined,
      ],
      ...largeId('pet', 'An id of the animal'),
    },
  },
  listInventory: {
    200: {
      'inventory-empty': ['There is no inventory entry.', byNoRecord],
      ...ENTRY,
      ...largeId('inventory', 'A petId'),
    },
  },
  updateInventory: {
    200: {
      'quantity-0': ['The quantity is set to 0.', byQuantity((quantity) => quantity === 0)],
      'quantity-above': ['The quantity is set to more than 0.', byQuantity((count) => count > 0)],
      ...ENTRY,
      ...largeId('inventory', 'The petId'),
    },
  },
  listOrders: {
    200: {
      'orders-empty': ['There is no order.', byNoRecord],
      'order-all-fields': ['An order has all its fields.', byRecord((order) => !lacksField(order))],
      'order-absent-fields': [
        'An order lacks fields: all of them are optional.',
        byRecord(lacksField),
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
    204: largeId('cancelled', 'The orderId', ({ pathId }) => isLargeId(parseInt64(pathId ?? ''))),
    409: {
      'order-shipped': [
        'The order has shipped, rather than been cancelled before.',
        ({ wasCancelled }) => !wasCancelled,
      ],
    },
  },
};

/** The cases within replies that the document distinguishes. A case of several operations has one id. */
export const DOCUMENTED_CASES = OPERATION_IDS.flatMap((operation) =>
  Object.entries({ ...CASES[operation], 401: UNAUTHORIZED }).flatMap(([status, rows]) =>
    Object.entries(rows).map(([id, [sentence, shows]]) => ({
      id,
      operation,
      status: Number(status),
      sentence,
      shows,
    })),
  ),
);
