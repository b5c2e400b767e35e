import { type OperationId, operationShape } from '../contract/operations.ts';

/** Facts that only the deployment can provide: ids, and what it has done so far. */
export type FactName =
  | 'pet'
  | 'largePet'
  | 'unlistedPet'
  | 'unknownPet'
  | 'nextPage'
  | 'created'
  | 'stocked'
  | 'unknownOrder'
  | 'inputFirst'
  | 'cancelledNow';

interface More {
  /** By default the deployment's key. */
  readonly key?: 'none' | 'unknown' | 'invalid' | 'read-only';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Sent once for each order that this flag names. */
  readonly each?: 'cancel' | 'shipped' | 'cancelled';
  /** Sent this many times at once. */
  readonly times?: number;
  /** A fact that must be known besides those in the path. */
  readonly given?: FactName;
  /** The operation that an error of another method is told with. */
  readonly beside?: OperationId;
}

/** A request to a deployment. */
export interface Ask extends More {
  /** The operation that it calls; undefined if the document has none. */
  readonly operation: OperationId | undefined;
  readonly method: string;
  /** Below the base URL. Names in braces stand for facts, and `{order}` for an order of `each`. */
  readonly path: string;
  readonly why: string;
}

/** Every animal that a check creates has a name that starts with this. */
const ORIGIN = 'petstore-mock check';

/** An int64 that a double cannot hold. */
const LARGE_CATEGORY = 2n ** 53n + 1n;

/** The id that a body must not have. */
export const SENT_ID = 7_777_777_777_777_777n;

/** A status and a field that the document does not have. */
export const UNSEEN = 'petstore-mock-check';

export const OTHER_ORIGIN = 'https://petstore-mock-check.example';

/** The window of a burst in seconds, and its requests: 50% more than `rate-limit: 10/s` allows. */
export const BURST = { seconds: 1, requests: 15 } as const;

/** One character more than `name-limits: 255` allows. */
const LONG_NAME = `${ORIGIN}: `.padEnd(256, 'x');

/** A body that is refused whatever its size, so that it creates nothing. */
const refusedBody = (bytes: number) => '{}'.padEnd(bytes);

const animal = (name: string, more = '') => `{"name":"${ORIGIN}: ${name}","categoryId":1${more}}`;

function call(operation: OperationId, path: string, why: string, more: More = {}): Ask {
  return { operation, method: operationShape(operation).method, path, why, ...more };
}

const listPets = (query: string, why: string, more?: More) =>
  call('listPets', `/pets${query}`, why, more);
const getPet = (id: string, why: string, more?: More) => call('getPet', `/pets/${id}`, why, more);
const createPet = (body: string, why: string, more?: More) =>
  call('createPet', '/pets', why, { body, ...more });
const setStock = (body: string, why: string, more?: More) =>
  call('updateInventory', '/inventory/{stocked}', why, { body, ...more });
const cancel = (id: string, why: string, more?: More) =>
  call('cancelOrder', `/store/orders/${id}`, why, more);

const NO_KEY = { key: 'none' } as const;

/** Every request, in the order in which they are sent. */
const ALL = {
  pets100: listPets('?limit=100', 'the animals'),
  pets: listPets('', 'the default limit'),
  inventory: call('listInventory', '/inventory', 'the stock'),
  orders: call('listOrders', '/store/orders', 'the orders'),
  pets1: listPets('?limit=1', 'the smallest limit'),
  pets2: listPets('?limit=2', 'a small limit'),
  nextPage: call('listPets', '{nextPage}', 'the next page'),
  available: listPets('?limit=100&status=available', 'the filter'),
  pending: listPets('?limit=100&status=pending', 'the filter'),
  sold: listPets('?limit=100&status=sold', 'the filter'),
  pet: getPet('{pet}', 'an animal of the list'),
  largePet: getPet('{largePet}', 'an id of the list beyond 2^53'),
  unlistedPet: getPet('{unlistedPet}', 'an animal that only the inventory names'),
  unknownPet: getPet('{unknownPet}', 'an id that no animal has'),
  limitText: listPets('?limit=abc', 'a limit that is not an integer'),
  petText: getPet('abc', 'an id that is not an integer'),
  limit0: listPets('?limit=0', 'a limit below 1'),
  limit101: listPets('?limit=101', 'a limit above 100'),
  unseenFilter: listPets(`?limit=100&status=${UNSEEN}`, 'a filter for a status never seen'),
  unknownQuery: call('listOrders', `/store/orders?${UNSEEN}=1`, 'an unknown query parameter'),
  ordersPage: call('listOrders', '/store/orders?limit=1', 'that orders have no pages'),
  getOrder: {
    operation: undefined,
    method: 'GET',
    path: '/store/orders/{unknownOrder}',
    why: 'a method that the path does not have',
    beside: 'cancelOrder',
  },
  petsNoKey: listPets('', 'a missing key', NO_KEY),
  petNoKey: getPet('{unknownPet}', 'a missing key', NO_KEY),
  inventoryNoKey: call('listInventory', '/inventory', 'a missing key', NO_KEY),
  ordersNoKey: call('listOrders', '/store/orders', 'a missing key', NO_KEY),
  petsUnknownKey: listPets('', 'a made-up key', { key: 'unknown' }),
  petsInvalidKey: listPets('', 'an invalid key', { key: 'invalid' }),
  limitTextNoKey: listPets('?limit=abc', 'a missing key with a wrong limit', NO_KEY),
  otherOrigin: listPets('?limit=1', 'a page of another origin', {
    headers: { Origin: OTHER_ORIGIN },
  }),
  preflight: {
    operation: undefined,
    method: 'OPTIONS',
    path: '/pets',
    why: 'the preflight for a page of another origin',
    headers: { Origin: OTHER_ORIGIN, 'Access-Control-Request-Method': 'GET' },
    ...NO_KEY,
  },
  petsReadOnly: listPets('?limit=1', 'that the read-only key is accepted', { key: 'read-only' }),
  create: createPet(
    `{"name":"${ORIGIN}: no status","categoryId":${LARGE_CATEGORY}}`,
    'an animal without a status, in a category beyond 2^53',
  ),
  createPending: createPet(animal('stock', ',"status":"pending"'), 'an animal to change stock of'),
  created: getPet('{created}', 'the first created animal'),
  inventoryCreated: call('listInventory', '/inventory', 'entries of created animals', {
    given: 'created',
  }),
  stock5: setStock('{"quantity":5}', 'quantity 5'),
  cancel: cancel('{order}', 'a pending order', { each: 'cancel' }),
  petAt5: getPet('{stocked}', 'whether the animal follows'),
  ordersCancelled: call('listOrders', '/store/orders', 'whether cancelled orders are listed', {
    given: 'cancelledNow',
  }),
  inventoryCancelled: call('listInventory', '/inventory', 'whether cancelling restocks', {
    given: 'cancelledNow',
  }),
  cancelAgain: cancel('{cancelledNow}', 'an order that was cancelled just now'),
  stock0: setStock('{"quantity":0}', 'quantity 0'),
  petAt0: getPet('{stocked}', 'whether the animal follows'),
  stock3: setStock('{"quantity":3}', 'quantity 3'),
  inventoryKept: call('listInventory', '/inventory', 'that the stock is kept', {
    given: 'stocked',
  }),
  stockNegative: setStock('{"quantity":-1}', 'a negative quantity'),
  stockText: setStock('{"quantity":"4"}', 'a quantity that is a string'),
  stockNothing: setStock('{}', 'a missing quantity'),
  stockNoKey: setStock('{"quantity":4}', 'a missing key', NO_KEY),
  createLongName: createPet(`{"name":"${LONG_NAME}","categoryId":1}`, 'a name of 256 characters'),
  createNoKey: createPet(animal('no key'), 'a missing key', NO_KEY),
  createNoName: createPet(
    '{"name":"","categoryId":1}',
    'an empty name and no key, which creates nothing',
    {
      given: 'inputFirst',
      ...NO_KEY,
    },
  ),
  createWithId: createPet(animal('id', `,"id":${SENT_ID}`), 'a body with an id'),
  createUnknownField: createPet(animal('field', `,"${UNSEEN}":1`), 'a body with an unknown field'),
  createUnseenStatus: createPet(animal('status', `,"status":"${UNSEEN}"`), 'a status never seen'),
  createNoCategory: createPet(`{"name":"${ORIGIN}: no category"}`, 'a missing required field'),
  createAsText: createPet(animal('text/plain'), 'a body that is not declared as JSON', {
    headers: { 'Content-Type': 'text/plain' },
  }),
  createOver10kb: createPet(refusedBody(11 * 1024), 'a body of 11 KiB, wrong at any size'),
  createOver1mb: createPet(refusedBody(1025 * 1024), 'a body of 1025 KiB, wrong at any size'),
  createReadOnly: createPet(animal('read-only key'), 'a read-only key', { key: 'read-only' }),
  cancelUnknown: cancel('{unknownOrder}', 'an order that does not exist'),
  cancelNoKey: cancel('{unknownOrder}', 'a missing key', NO_KEY),
  cancelShipped: cancel('{order}', 'a shipped order', { each: 'shipped' }),
  cancelCancelled: cancel('{order}', 'a cancelled order', { each: 'cancelled' }),
  petsAgain: listPets('?limit=100', 'the order of the animals'),
  petsStill: listPets('?limit=100', 'the order of the animals, once more'),
  burst: listPets('?limit=1', 'many requests in a second', { times: BURST.requests }),
} as const satisfies Record<string, Ask>;

export type AskName = keyof typeof ALL;

export const ASKS: Readonly<Record<AskName, Ask>> = ALL;

export const ASK_NAMES = Object.keys(ALL).filter((name): name is AskName =>
  Object.hasOwn(ALL, name),
);
