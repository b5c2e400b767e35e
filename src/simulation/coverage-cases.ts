import type { CaseId } from '../contract/coverage.ts';
import { SEEN_ANIMAL_STATUSES } from '../contract/records.ts';
import type { Call } from '../service/input.ts';
import type { Reply } from '../service/reply.ts';
import type { World } from '../service/world.ts';

/** What a page of animals shows; read once from each text, since pages are sent again and again. */
interface PageFacts {
  readonly withoutStatus: boolean;
  readonly unseenStatus: boolean;
  readonly largeId: boolean;
}

type Predicate = (call: Call, reply: Reply, world: World) => boolean;

/** Whether a call and its reply are a case. None parses a reply. */
export const CASE_PREDICATES: Readonly<Record<CaseId, Predicate>> = {
  'limit-absent': (call) => asked(call, 'limit') === undefined,
  'limit-1': (call) => asked(call, 'limit') === '1',
  'limit-between': (call) => {
    const limit = Number(asked(call, 'limit'));
    return limit > 1 && limit < 100;
  },
  'limit-100': (call) => asked(call, 'limit') === '100',
  'filter-unused': (call) => asked(call, 'status') === undefined,
  'filter-used': (call) => asked(call, 'status') !== undefined,
  'page-without-status': (_call, reply) => factsOf(reply).withoutStatus,
  'page-unseen-status': (_call, reply) => factsOf(reply).unseenStatus,
  'page-large-id': (_call, reply) => factsOf(reply).largeId,
  'created-with-status': (call) => STATUS.test(bodyOf(call)),
  'created-without-status': (call) => !STATUS.test(bodyOf(call)),
  'pet-available': (_call, reply) => statusOf(reply) === 'available',
  'pet-pending': (_call, reply) => statusOf(reply) === 'pending',
  'pet-sold': (_call, reply) => statusOf(reply) === 'sold',
  'pet-without-status': (_call, reply) => statusOf(reply) === undefined,
  'pet-unseen-status': (_call, reply) => !SEEN.has(statusOf(reply) ?? 'available'),
  'pet-sunset': (_call, reply) => reply.headers.includes('Sunset'),
  'pet-large-id': isLargePathId,
  'quantity-0': (call) => ZERO.test(bodyOf(call)),
  'quantity-above': (call) => ABOVE_ZERO.test(bodyOf(call)),
  'inventory-large-id': isLargePathId,
  'order-absent-fields': (_call, _reply, world) =>
    someOrder(world, (it) => Object.keys(it).filter((name) => name !== 'status').length < 5),
  'order-complete': (_call, _reply, world) => someOrder(world, (it) => it.complete === true),
  'order-incomplete': (_call, _reply, world) => someOrder(world, (it) => it.complete === false),
  'order-large-id': (_call, _reply, world) =>
    someOrder(world, ({ id, petId = 0n }) => isLarge(id) || isLarge(petId)),
  'cancelled-large-id': isLargePathId,
};

const STATUS = /"status"\s*:\s*"/;
const ZERO = /"quantity"\s*:\s*-?0(?:\.0*)?(?:[eE]|[\s,}])/;
const ABOVE_ZERO = /"quantity"\s*:\s*0*[1-9]/;
const LARGE_IN_TEXT = /"(?:id|petId|categoryId)":(-?\d{16,19})/g;
const STATUS_IN_TEXT = /"status":"((?:[^"\\]|\\.)*)"/g;
const ANIMALS_IN_TEXT = /"name":/g;
const SEEN: ReadonlySet<string> = new Set(SEEN_ANIMAL_STATUSES);

function asked({ query }: Call, name: string): string | undefined {
  for (const [given, value] of query) if (given === name) return value;
  return undefined;
}

function bodyOf({ body }: Call): string {
  return body.kind === 'bytes' ? body.bytes.toString('latin1') : '';
}

const STATUS_MEMBER = '"status":"';

/** The text that was looked at last, since every case of an animal looks at the same one. */
let lastText: string | Buffer | undefined;
let lastStatus: string | undefined;

/** The status of the one animal in a reply: its last member, where it has one. */
function statusOf({ body }: Reply): string | undefined {
  if (body.kind !== 'json') return undefined;
  if (body.text !== lastText) {
    const text = String(body.text);
    const at = text.lastIndexOf(STATUS_MEMBER);
    lastStatus = at < 0 ? undefined : text.slice(at + STATUS_MEMBER.length, -2);
    lastText = body.text;
  }
  return lastStatus;
}

const NO_FACTS: PageFacts = { withoutStatus: false, unseenStatus: false, largeId: false };
const known = new WeakMap<Buffer, PageFacts>();

function factsOf({ body }: Reply): PageFacts {
  if (body.kind !== 'json') return NO_FACTS;
  if (typeof body.text === 'string') return readFacts(body.text);
  let facts = known.get(body.text);
  if (facts === undefined) {
    facts = readFacts(body.text.toString());
    known.set(body.text, facts);
  }
  return facts;
}

/** A quote within a JSON string is escaped, so these patterns match members only. */
function readFacts(text: string): PageFacts {
  const statuses = [...text.matchAll(STATUS_IN_TEXT)].map(([, status = '']) => status);
  return {
    withoutStatus: (text.match(ANIMALS_IN_TEXT)?.length ?? 0) > statuses.length,
    unseenStatus: statuses.some((status) => !SEEN.has(status)),
    largeId: [...text.matchAll(LARGE_IN_TEXT)].some(([, id = '0']) => isLarge(BigInt(id))),
  };
}

function isLarge(id: bigint): boolean {
  return id > Number.MAX_SAFE_INTEGER || id < -Number.MAX_SAFE_INTEGER;
}

function isLargePathId({ pathId = '' }: Call): boolean {
  return pathId.length >= 16 && /^-?\d+$/.test(pathId) && isLarge(BigInt(pathId));
}

type StoredOrder = ReturnType<World['store']['orders']['get']> & object;

function someOrder({ store, choices }: World, is: (order: StoredOrder) => boolean): boolean {
  const removed = choices['cancelled-orders'] === 'removed';
  for (const order of store.orders.ascending()) {
    if (!(removed && order.status === 'cancelled') && is(order)) return true;
  }
  return false;
}
