import type { CaseId } from '../contract/cases.ts';
import { isIntegerText, parseInt64 } from '../contract/int64.ts';
import { OPERATIONS } from '../contract/operations.ts';
import { type RecordOf, readRecord } from '../contract/records.ts';
import type { Call } from '../service/input.ts';
import { checkKey } from '../service/keyring.ts';
import type { Reply } from '../service/reply.ts';
import type { World } from '../service/world.ts';
import { type Fact, isLarge } from './coverage-facts.ts';

export type Predicate = (call: Call, reply: Reply, world: World) => boolean;

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
 * What makes a call and its reply a case: a fact of the records in the reply, or a predicate. Both are
 * about what the client sent and was sent, so a forced reply counts as any other. A predicate is
 * asked until its case is shown, so it has to be cheap.
 */
export const CASE_TESTS: Readonly<Record<CaseId, Fact | Predicate>> = {
  'key-missing': (call, _reply, world) => !isKeySent(call, world),
  'key-invalid': (call, _reply, world) => isKeySent(call, world),
  'limit-absent': (call) => asked(call, 'limit').length === 0,
  'limit-1': asksForLimit(1, 1),
  'limit-between': asksForLimit(2, 99),
  'limit-100': asksForLimit(100, 100),
  'filter-unused': (call) => asked(call, 'status').length === 0,
  'filter-used': (call) => asked(call, 'status').length > 0,
  'page-empty': 'none',
  'page-available': 'available',
  'page-pending': 'pending',
  'page-sold': 'sold',
  'page-without-status': 'no-status',
  'page-unseen-status': 'unseen-status',
  'page-large-id': 'large-id',
  'created-with-status': (call) => newAnimal(call)?.status !== undefined,
  'created-without-status': (call) => {
    const animal = newAnimal(call);
    return animal !== undefined && animal.status === undefined;
  },
  'created-large-id': 'large-id',
  'pet-available': 'available',
  'pet-pending': 'pending',
  'pet-sold': 'sold',
  'pet-without-status': 'no-status',
  'pet-unseen-status': 'unseen-status',
  'pet-sunset': (_call, { headers }) =>
    headers.some((name, index) => index % 2 === 0 && /^sunset$/i.test(name)),
  'pet-large-id': 'large-id',
  'inventory-empty': 'none',
  'entry-available': 'available',
  'entry-sold': 'sold',
  'entry-unseen-status': 'unseen-status',
  'inventory-large-id': 'large-id',
  'quantity-0': (call) => newQuantity(call) === 0,
  'quantity-above': (call) => newQuantity(call) > 0,
  'orders-empty': 'none',
  'order-all-fields': 'all-fields',
  'order-absent-fields': 'absent-fields',
  'order-complete': 'complete',
  'order-incomplete': 'incomplete',
  'order-large-id': 'large-id',
  'cancelled-large-id': hasLargePathId,
  // The mock's own store tells, since the document shows neither the body nor another conflict.
  'order-shipped': ({ pathId = '' }, _reply, { store }) => {
    const id = parseInt64(pathId);
    return id === undefined || store.orders.get(id)?.status !== 'cancelled';
  },
};

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
