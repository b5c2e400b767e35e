import { type OperationId, operationShape } from '../contract/operations.ts';
import type { CheckRequest, Fact } from './check-transcript.ts';
import { BURST, OTHER_ORIGIN, SENT_ID, UNKNOWN_WORD } from './check-values.ts';
import * as rule from './document-rules.ts';
import * as effect from './effects.ts';
import * as fact from './facts.ts';
import type { RequestName } from './request-names.ts';

/** Every animal that a check creates has a name that starts with this. */
const ORIGIN = 'petstore-mock check';

/** An int64 that a double cannot hold. */
const LARGE_CATEGORY = 2n ** 53n + 1n;

/** One character more than `name-limits: 255` allows. */
const LONG_NAME = `${ORIGIN}: `.padEnd(256, 'x');

/** A body that is refused whatever its size, so that it creates nothing. */
const refusedBody = (bytes: number) => '{}'.padEnd(bytes);

const animal = (name: string, more = '') => `{"name":"${ORIGIN}: ${name}","categoryId":1${more}}`;

type More = Partial<CheckRequest>;

function call(operation: OperationId, path: string, why: string, more: More = {}): CheckRequest {
  return { operation, method: operationShape(operation).method, path, why, ...more };
}

const listPets = (query: string, why: string, more?: More) =>
  call('listPets', `/pets${query}`, why, more);
const getPet = (id: string, why: string, more?: More) => call('getPet', `/pets/${id}`, why, more);
const readPet = (needs: Fact, why: string, more?: More) => getPet('{}', why, { needs, ...more });
const createPet = (body: string, why: string, more?: More) =>
  call('createPet', '/pets', why, { body, rules: [rule.asSent], ...more });
const listInventory = (why: string, more?: More) => call('listInventory', '/inventory', why, more);
const setStock = (body: string, why: string, more?: More) =>
  call('updateInventory', '/inventory/{}', why, { body, needs: fact.STOCKED_PET, ...more });
const listOrders = (query: string, why: string, more?: More) =>
  call('listOrders', `/store/orders${query}`, why, more);
const cancel = (why: string, more?: More) => call('cancelOrder', '/store/orders/{}', why, more);

const NO_KEY = { key: 'none', status: 401 } as const;

/** Every request of a check. */
export const REQUESTS: Readonly<Record<RequestName, CheckRequest>> = {
  pets100: listPets('?limit=100', 'the animals', {
    status: 200,
    rules: [rule.pageLength, rule.uniqueIds('id')],
  }),
  pets: listPets('', 'the default limit', {
    status: 200,
    rules: [rule.pageLength, rule.uniqueIds('id')],
  }),
  inventory: listInventory('the stock', { status: 200, rules: [rule.uniqueIds('petId')] }),
  orders: listOrders('', 'the orders', {
    status: 200,
    rules: [rule.uniqueIds('id'), rule.listsOrders, rule.exactPetIds],
  }),
  pets1: listPets('?limit=1', 'the smallest limit', { status: 200, rules: [rule.pageLength] }),
  pets2: listPets('?limit=2', 'a small limit', { status: 200, rules: [rule.pageLength] }),
  nextPage: call('listPets', '{}', 'the next page', { needs: fact.NEXT_PAGE }),
  available: filterBy('available'),
  pending: filterBy('pending'),
  sold: filterBy('sold'),
  pet: readPet(fact.LISTED_PET, 'an animal of the list', {
    status: 200,
    rules: [rule.asListed, rule.sunsetDay],
  }),
  largePet: readPet(fact.LARGE_PET, 'an id of the list beyond 2^53', {
    status: 200,
    rules: [rule.asListed],
  }),
  unlistedPet: readPet(fact.UNLISTED_PET, 'an animal that only the inventory names', {
    rules: [rule.listsEvery],
    judges: 'listPets',
  }),
  unknownPet: readPet(fact.UNKNOWN_PET, 'an id that no animal has'),
  limitText: listPets('?limit=abc', 'a limit that is not an integer'),
  petText: getPet('abc', 'an id that is not an integer'),
  limit0: listPets('?limit=0', 'a limit below 1'),
  limit101: listPets('?limit=101', 'a limit above 100'),
  unseenFilter: listPets(`?limit=100&status=${UNKNOWN_WORD}`, 'a filter for a status never seen'),
  unknownQuery: listOrders(`?${UNKNOWN_WORD}=1`, 'an unknown query parameter'),
  ordersPage: listOrders('?limit=1', 'that orders have no pages', { rules: [rule.hasNoPages] }),
  getOrder: {
    operation: undefined,
    method: 'GET',
    path: '/store/orders/{}',
    needs: fact.UNKNOWN_ORDER,
    why: 'a method that the path does not have',
    beside: 'cancelOrder',
  },
  petsNoKey: listPets('', 'a missing key', NO_KEY),
  petNoKey: readPet(fact.UNKNOWN_PET, 'a missing key', NO_KEY),
  inventoryNoKey: listInventory('a missing key', NO_KEY),
  ordersNoKey: listOrders('', 'a missing key', NO_KEY),
  petsUnknownKey: listPets('', 'a made-up key', { key: 'unknown', status: 401 }),
  petsInvalidKey: listPets('', 'an invalid key', { key: 'invalid', status: 401 }),
  limitTextNoKey: listPets('?limit=abc', 'a missing key with a wrong limit', { key: 'none' }),
  otherOrigin: listPets('?limit=1', 'a page of another origin', {
    headers: { Origin: OTHER_ORIGIN },
  }),
  preflight: {
    operation: undefined,
    method: 'OPTIONS',
    path: '/pets',
    why: 'the preflight for a page of another origin',
    headers: { Origin: OTHER_ORIGIN, 'Access-Control-Request-Method': 'GET' },
    key: 'none',
  },
  petsReadOnly: listPets('?limit=1', 'that the read-only key is accepted', { key: 'read-only' }),
  create: createPet(
    `{"name":"${ORIGIN}: no status","categoryId":${LARGE_CATEGORY}}`,
    'an animal without a status, in a category beyond 2^53',
    { status: 201, rules: [rule.asSent, rule.idAsListed] },
  ),
  createPending: createPet(animal('stock', ',"status":"pending"'), 'an animal to change stock of', {
    status: 201,
    rules: [rule.asSent, rule.idAsListed],
  }),
  created: readPet(fact.CREATED_PET, 'the first created animal', {
    status: 200,
    effect: effect.CREATED,
    rules: [rule.asCreated, rule.sunsetDay],
  }),
  inventoryCreated: listInventory('entries of created animals', {
    needs: fact.CREATED_PET,
    status: 200,
    effect: effect.ENTRIES,
    rules: [rule.exactIds('inventoryCreated', 'petId')],
  }),
  stock5: setStock('{"quantity":5}', 'quantity 5', { status: 200, rules: [rule.asStocked] }),
  cancel: cancel('a pending order', { each: 'cancel', status: 204, rules: [rule.changesStatus] }),
  petAt5: readPet(fact.STOCKED_PET, 'whether the animal follows', {
    status: 200,
    effect: effect.AVAILABLE,
  }),
  ordersCancelled: listOrders('', 'whether cancelled orders are listed', {
    needs: fact.CANCELLED_ORDER,
    status: 200,
    effect: effect.CANCELLED,
  }),
  inventoryCancelled: listInventory('whether cancelling restocks', {
    needs: fact.CANCELLED_ORDER,
    status: 200,
    effect: effect.RESTOCKED,
  }),
  cancelAgain: cancel('an order that was cancelled just now', { needs: fact.CANCELLED_ORDER }),
  stock0: setStock('{"quantity":0}', 'quantity 0', { status: 200, rules: [rule.asStocked] }),
  petAt0: readPet(fact.STOCKED_PET, 'whether the animal follows', {
    status: 200,
    effect: effect.SOLD,
  }),
  stock3: setStock('{"quantity":3}', 'quantity 3', { status: 200, rules: [rule.asStocked] }),
  inventoryKept: listInventory('that the stock is kept', {
    needs: fact.STOCKED_PET,
    status: 200,
    effect: effect.STOCK_KEPT,
    rules: [rule.keepsStock],
  }),
  stockNegative: setStock('{"quantity":-1}', 'a negative quantity'),
  stockText: setStock('{"quantity":"4"}', 'a quantity that is a string', {
    rules: [rule.refuses('$.quantity')],
  }),
  stockNothing: setStock('{}', 'a missing quantity', { rules: [rule.refuses('$.quantity')] }),
  stockNoKey: setStock('{"quantity":4}', 'a missing key', NO_KEY),
  createLongName: createPet(`{"name":"${LONG_NAME}","categoryId":1}`, 'a name of 256 characters'),
  createNoKey: createPet(animal('no key'), 'a missing key', { ...NO_KEY, rules: [] }),
  createNoName: createPet(
    '{"name":"","categoryId":1}',
    'an empty name and no key, which creates nothing',
    { needs: fact.INPUT_FIRST, key: 'none', rules: [] },
  ),
  createWithId: createPet(animal('id', `,"id":${SENT_ID}`), 'a body with an id'),
  createUnknownField: createPet(
    animal('field', `,"${UNKNOWN_WORD}":1`),
    'a body with an unknown field',
  ),
  createUnseenStatus: createPet(
    animal('status', `,"status":"${UNKNOWN_WORD}"`),
    'a status never seen',
  ),
  createNoCategory: createPet(`{"name":"${ORIGIN}: no category"}`, 'a missing required field', {
    rules: [rule.refuses('$.categoryId')],
  }),
  createAsText: createPet(animal('text/plain'), 'a body that is not declared as JSON', {
    headers: { 'Content-Type': 'text/plain' },
  }),
  createOver10kb: createPet(refusedBody(11 * 1024), 'a body of 11 KiB, wrong at any size', {
    rules: [],
  }),
  createOver1mb: createPet(refusedBody(1025 * 1024), 'a body of 1025 KiB, wrong at any size', {
    rules: [],
  }),
  createReadOnly: createPet(animal('read-only key'), 'a read-only key', { key: 'read-only' }),
  cancelUnknown: cancel('an order that does not exist', {
    needs: fact.UNKNOWN_ORDER,
    status: 404,
  }),
  cancelNoKey: cancel('a missing key', { needs: fact.UNKNOWN_ORDER, ...NO_KEY }),
  cancelShipped: cancel('a shipped order', { each: 'shipped', status: 409 }),
  cancelCancelled: cancel('a cancelled order', { each: 'cancelled' }),
  petsAgain: listPets('?limit=100', 'the order of the animals', {
    status: 200,
    effect: effect.CREATED_LISTED,
    rules: [rule.listsCreated, rule.exactIds('petsAgain', 'id')],
  }),
  petsStill: listPets('?limit=100', 'the order of the animals, once more', { status: 200 }),
  burst: listPets('?limit=1', 'many requests in a second', { times: BURST.requests }),
};

function filterBy(status: string): CheckRequest {
  const rules = [rule.filtersBy(status)];
  return listPets(`?limit=100&status=${status}`, 'the filter', { status: 200, rules });
}

/** Whether the document prescribes a status of an operation to a request. */
export function isPrescribed(
  request: CheckRequest,
  operation: OperationId,
  status: number,
): boolean {
  return request.operation === operation && request.status === status;
}

/** The documented reply that a request has rules for, as an operation with a status. */
export function ruledReply({ operation, judges = operation, rules = [] }: CheckRequest) {
  if (judges === undefined || rules.length === 0) return undefined;
  return `${judges} ${Object.keys(operationShape(judges).replies)[0]}`;
}
