import { isIntegerText, parseInt64 } from '../contract/int64.ts';
import { OPERATIONS } from '../contract/operations.ts';
import { isObject } from '../contract/records.ts';
import type { Call } from '../service/input.ts';
import { checkKey } from '../service/keyring.ts';
import type { Reply } from '../service/reply.ts';
import type { World } from '../service/world.ts';
import { readRecord } from '../shape/record-shapes.ts';
import { isLarge, RECORD_FACTS } from './coverage-facts.ts';

/** What a call or its reply shows besides records, each a bit above those of `RECORD_FACTS`. */
const CALL_FACTS = {
  'key-missing': 1 << 11,
  'key-invalid': 1 << 12,
  'limit-absent': 1 << 13,
  'limit-1': 1 << 14,
  'limit-between': 1 << 15,
  'limit-100': 1 << 16,
  'filter-unused': 1 << 17,
  'filter-used': 1 << 18,
  'created-with-status': 1 << 19,
  'created-without-status': 1 << 20,
  'pet-sunset': 1 << 21,
  'quantity-0': 1 << 22,
  'quantity-above': 1 << 23,
  'cancelled-large-id': 1 << 24,
  'order-shipped': 1 << 25,
} as const;

const OF_CALLS = Object.values(CALL_FACTS).reduce((all, fact) => all | fact, 0);

const FACTS = new Map<string, number>(Object.entries({ ...RECORD_FACTS, ...CALL_FACTS }));

/**
 * The fact with which a reply shows a case; forced replies count too. The name of a case that records
 * show is the name of their fact after a prefix, such as `page-available`.
 */
export function factOf(id: string): number {
  const fact = FACTS.get(id) ?? FACTS.get(id.slice(id.indexOf('-') + 1));
  if (fact === undefined) throw new Error(`No fact shows the case ${id}.`);
  return fact;
}

/** The facts that a documented reply and its call show. May leave out those not in `wanted`. */
export function callFacts(
  call: Call,
  { status, headers }: Reply,
  world: World,
  wanted: number,
): number {
  if ((wanted & OF_CALLS) === 0) return 0;
  if (status === 401) return CALL_FACTS[isKeySent(call, world) ? 'key-invalid' : 'key-missing'];
  switch (call.operation) {
    case 'listPets':
      return pageFacts(call);
    case 'createPet':
      return creationFacts(call, wanted);
    case 'getPet':
      return CALL_FACTS['pet-sunset'] & wanted && hasHeader(headers, 'sunset')
        ? CALL_FACTS['pet-sunset']
        : 0;
    case 'updateInventory':
      return quantityFacts(call);
    case 'cancelOrder':
      return cancelFacts(call, status, world);
    default:
      return 0;
  }
}

/** Whether a token was sent. It can be valid if a rule forced the 401. */
function isKeySent({ authorization }: Call, world: World): boolean {
  const check = checkKey(world.keys, authorization, world);
  return check.ok || check.tokenGiven;
}

function pageFacts({ query }: Call): number {
  let limits = 0;
  let filter: number = CALL_FACTS['filter-unused'];
  let limit: number = CALL_FACTS['limit-absent'];
  for (const [name, value] of query) {
    if (name === 'status') filter = CALL_FACTS['filter-used'];
    if (name !== 'limit') continue;
    limits += 1;
    limit = limits === 1 ? limitFact(value) : 0;
  }
  return filter | limit;
}

function limitFact(text: string): number {
  const limit = isIntegerText(text) ? Number(text) : 0;
  if (limit === 1) return CALL_FACTS['limit-1'];
  if (limit === 100) return CALL_FACTS['limit-100'];
  return limit > 1 && limit < 100 ? CALL_FACTS['limit-between'] : 0;
}

function hasHeader(headers: readonly string[], name: string): boolean {
  return headers.some((text, index) => index % 2 === 0 && text.toLowerCase() === name);
}

/** None if the body is not an animal. */
function creationFacts({ body }: Call, wanted: number): number {
  const value = jsonIn(body);
  if (!isObject(value)) return 0;
  const hasStatus = Object.hasOwn(value, 'status');
  const fact = CALL_FACTS[hasStatus ? 'created-with-status' : 'created-without-status'];
  return (fact & wanted) !== 0 && readRecord(CREATED, value, 'body').ok ? fact : 0;
}

function quantityFacts({ body }: Call): number {
  const read = readRecord(UPDATED, jsonIn(body), 'body');
  if (!read.ok || read.value.quantity < 0) return 0;
  return CALL_FACTS[read.value.quantity === 0 ? 'quantity-0' : 'quantity-above'];
}

function cancelFacts({ pathId = '' }: Call, status: number, { store }: World): number {
  const id = parseInt64(pathId);
  if (status === 204) {
    return id !== undefined && isLarge(id) ? CALL_FACTS['cancelled-large-id'] : 0;
  }
  // Only the store can tell: the document shows no body and defines no other conflict.
  const wasCancelled = id !== undefined && store.orders.get(id)?.status === 'cancelled';
  return wasCancelled ? 0 : CALL_FACTS['order-shipped'];
}

const CREATED = OPERATIONS.createPet.body.fields;
const UPDATED = OPERATIONS.updateInventory.body.fields;

function jsonIn(body: Call['body']): unknown {
  return body.kind === 'bytes' && body.json.ok ? body.json.value : undefined;
}
