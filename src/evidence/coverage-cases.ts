import type { CaseId } from '../contract/cases.ts';
import { isIntegerText, parseInt64 } from '../contract/int64.ts';
import { OPERATIONS } from '../contract/operations.ts';
import { type RecordOf, readRecord } from '../contract/records.ts';
import type { Call } from '../service/input.ts';
import { checkKey } from '../service/keyring.ts';
import type { Reply } from '../service/reply.ts';
import type { World } from '../service/world.ts';
import { type Fact, FactReader, isLarge } from './coverage-facts.ts';

export type Predicate = (call: Call, reply: Reply, world: World) => boolean;

const ANIMALS = new FactReader('Animal');
const ENTRIES = new FactReader('InventoryEntry');
const ORDERS = new FactReader('Order');

/** That the records in a reply show a fact. */
const shows =
  (records: FactReader, fact: Fact): Predicate =>
  (_call, reply, world) =>
    records.factsOf(reply, world).has(fact);

const showsLargeAnimalId = shows(ANIMALS, 'large-id');

const asksForLimit =
  (from: number, to: number): Predicate =>
  (call) => {
    const [text = '', ...others] = asked(call, 'limit');
    const limit = isIntegerText(text) && others.length === 0 ? Number(text) : Number.NaN;
    return limit >= from && limit <= to;
  };

const hasLargePathId: Predicate = ({ pathId = '' }) => {
  const id = parseInt64(pathId);
  return id !== undefined && isLarge(id);
};

/**
 * Whether a call and its reply are a case. They are about what the client sent and was sent: a
 * forced reply counts as any other. They are asked until the case is first shown, so each is cheap.
 */
export const CASE_PREDICATES: Readonly<Record<CaseId, Predicate>> = {
  'key-missing': (call, _reply, world) => !isKeySent(call, world),
  'key-invalid': (call, _reply, world) => isKeySent(call, world),
  'limit-absent': (call) => asked(call, 'limit').length === 0,
  'limit-1': asksForLimit(1, 1),
  'limit-between': asksForLimit(2, 99),
  'limit-100': asksForLimit(100, 100),
  'filter-unused': (call) => asked(call, 'status').length === 0,
  'filter-used': (call) => asked(call, 'status').length > 0,
  'page-empty': shows(ANIMALS, 'none'),
  'page-available': shows(ANIMALS, 'available'),
  'page-pending': shows(ANIMALS, 'pending'),
  'page-sold': shows(ANIMALS, 'sold'),
  'page-without-status': shows(ANIMALS, 'no-status'),
  'page-unseen-status': shows(ANIMALS, 'unseen-status'),
  'page-large-id': shows(ANIMALS, 'large-id'),
  'created-with-status': (call) => newAnimal(call)?.status !== undefined,
  'created-without-status': (call) => {
    const animal = newAnimal(call);
    return animal !== undefined && animal.status === undefined;
  },
  'created-large-id': (call, reply, world) =>
    // Each created animal is another one: most are told by a look.
    hasLongNumber(reply) && showsLargeAnimalId(call, reply, world),
  'pet-available': shows(ANIMALS, 'available'),
  'pet-pending': shows(ANIMALS, 'pending'),
  'pet-sold': shows(ANIMALS, 'sold'),
  'pet-without-status': shows(ANIMALS, 'no-status'),
  'pet-unseen-status': shows(ANIMALS, 'unseen-status'),
  'pet-sunset': (_call, { headers }) =>
    headers.some((name, index) => index % 2 === 0 && /^sunset$/i.test(name)),
  'pet-large-id': shows(ANIMALS, 'large-id'),
  'inventory-empty': shows(ENTRIES, 'none'),
  'entry-available': shows(ENTRIES, 'available'),
  'entry-sold': shows(ENTRIES, 'sold'),
  'entry-unseen-status': shows(ENTRIES, 'unseen-status'),
  'inventory-large-id': shows(ENTRIES, 'large-id'),
  'quantity-0': (call) => newQuantity(call) === 0,
  'quantity-above': (call) => newQuantity(call) > 0,
  'orders-empty': shows(ORDERS, 'none'),
  'order-all-fields': shows(ORDERS, 'all-fields'),
  'order-absent-fields': shows(ORDERS, 'absent-fields'),
  'order-complete': shows(ORDERS, 'complete'),
  'order-incomplete': shows(ORDERS, 'incomplete'),
  'order-large-id': shows(ORDERS, 'large-id'),
  'cancelled-large-id': hasLargePathId,
  // The mock's own store tells, since the document shows neither the body nor another conflict.
  'order-shipped': ({ pathId = '' }, _reply, { store }) => {
    const id = parseInt64(pathId);
    return id === undefined || store.orders.get(id)?.status !== 'cancelled';
  },
};

/** Whether digits follow each other as they do in no smaller id than 2^53. */
function hasLongNumber({ body }: Reply): boolean {
  return body.kind === 'json' && /\d{16}/.test(body.text.toString());
}

/** Whether there was a token. A valid one is sent where a reply of 401 is forced. */
function isKeySent({ authorization }: Call, world: World): boolean {
  const check = checkKey(world.keys, authorization, world);
  return check.ok || check.tokenGiven;
}

const NOT_ASKED: readonly string[] = [];

/** The values of a query parameter, in the order in which they stand. */
function asked({ query }: Call, name: string): readonly string[] {
  if (query.length === 0) return NOT_ASKED;
  return query.filter(([given]) => given === name).map(([, value]) => value);
}

/** What `POST /pets` sends, where it is an animal. */
function newAnimal({ body }: Call): RecordOf<typeof CREATED> | undefined {
  const read = readRecord(CREATED, jsonIn(body), 'body');
  return read.ok ? read.value : undefined;
}

/** The quantity that `PATCH /inventory/{petId}` sends; NaN where there is none. */
function newQuantity({ body }: Call): number {
  const read = readRecord(UPDATED, jsonIn(body), 'body');
  return read.ok ? read.value.quantity : Number.NaN;
}

const CREATED = OPERATIONS.createPet.body.fields;
const UPDATED = OPERATIONS.updateInventory.body.fields;

function jsonIn(body: Call['body']): unknown {
  return body.kind === 'bytes' && body.json.ok ? body.json.value : undefined;
}
