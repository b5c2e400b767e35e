import type { ANIMALS, INVENTORY, ORDERS } from '../../contract/assumptions/record-assumptions.ts';
import { OPERATIONS } from '../../contract/operations.ts';
import { isObject } from '../../contract/records.ts';
import { idIn, idsOf, type JsonRecord, nextQuery, withId } from '../deployment-reply.ts';
import type { CheckTranscript, ProbeReply, RequestName } from './check-transcript.ts';
import { type Questions, status } from './question.ts';

const BEYOND_DOUBLES = 2n ** 53n;

/** What settles each assumption about animals. */
export const ANIMAL_QUESTIONS: Questions<keyof typeof ANIMALS> = {
  'unknown-pet': {
    by: ['unknownPet'],
    obstacle: (check) =>
      check.hasPassedSunset &&
      check.get('pet')?.status !== 200 &&
      'the operation is past its sunset',
    options: { 404: status(404), 400: status(400) },
  },
  'pets-order': {
    from: ['petsAgain', 'pets100'],
    obstacle: (check) => {
      const { length } = idsIn(check, 'petsAgain');
      const isSorted = orderOf(check) !== 'no order';
      return isSorted && length < 8 && `it needs 8 animals: ${length} can be in order by chance`;
    },
    what: 'GET /pets?limit=100 twice:',
    values: (check) => [isSameAgain(check) ? orderOf(check) : 'another order at each call'],
    options: { id: /^ascending ids$/, newest: /^descending ids$/, shuffled: /^no order$/ },
  },
  'pets-paging': {
    by: ['pets1'],
    also: ['nextPage', 'pets100'],
    obstacle: (check) => {
      const list = check.get('pets100')?.records;
      if (list === undefined) return check.whyUnknown('pets100');
      return list.length < 2 && !hasTotal(check) && 'it needs at least 2 animals';
    },
    what: 'the next page by',
    values: (check) => [pagingIn(check)],
    options: { none: /^nothing$/, cursor: /^a cursor$/, offset: /^an offset$/ },
  },
  'created-status': {
    from: ['create'],
    values: (check) => [String(check.get('create')?.record?.status ?? 'absent')],
    what: 'POST /pets: status',
    options: { absent: /^absent$/, available: /^available$/ },
  },
  'assigned-ids': {
    from: ['create', 'createPending'],
    also: ['created'],
    obstacle: (check) =>
      check.get('created')?.id !== check.createdIds[0] &&
      !check.hasPassedSunset &&
      `the created animal cannot be read under its id: ${check.whyUnknown('created')}`,
    what: 'POST /pets twice: ids',
    values: ({ createdIds }) => {
      const [first = 0n, second = 0n] = createdIds;
      if (second - first === 1n) return ['in sequence'];
      return createdIds.map((id) => (id > BEYOND_DOUBLES ? 'beyond 2^53' : String(id)));
    },
    options: { next: /^in sequence$/, int64: /^beyond/ },
  },
  'deprecation-headers': {
    by: ['pet', 'created', 'unknownPet'],
    any: true,
    obstacle: (check) => {
      const isKnown = announcing(check)?.accepted || check.hasPassedSunset;
      const isOpen = !isKnown && announced(check) === 'nothing';
      return isOpen && `no animal could be read: ${check.whyUnknown('pet')}`;
    },
    what: 'GET /pets/{petId} announces',
    values: (check) => [announced(check)],
    options: { sent: /^deprecation, sunset, link$/, absent: /^nothing$/ },
  },
  'after-sunset': {
    by: ['pet'],
    obstacle: (check) =>
      !check.hasPassedSunset &&
      `it needs a deployment whose clock is past ${OPERATIONS.getPet.sunset}`,
    options: { unchanged: status(200), 410: status(410), 404: status(404) },
  },
};

/** The ids of a list, each once. */
function idsIn(check: CheckTranscript, name: RequestName): bigint[] {
  return [...new Set(idsOf(check.get(name)?.records))];
}

function orderOf(check: CheckTranscript): 'ascending ids' | 'descending ids' | 'no order' {
  const ids = idsIn(check, 'petsAgain');
  if (isAscending(ids)) return 'ascending ids';
  return isAscending(ids.toReversed()) ? 'descending ids' : 'no order';
}

function isAscending(ids: readonly bigint[]): boolean {
  return ids.every((id, at) => at === 0 || id > (ids[at - 1] ?? id));
}

/** Whether both lists have the same order. An animal that only one of them has may be new. */
function isSameAgain(check: CheckTranscript): boolean {
  const [ids, again] = [idsIn(check, 'petsAgain'), idsIn(check, 'pets100')];
  const common = ids.filter((id) => again.includes(id));
  return String(common) === String(again.filter((id) => ids.includes(id)));
}

/** How a client asks for the page after that of one animal, in words. */
function pagingIn(check: CheckTranscript): string {
  const query = nextQuery(check.get('pets1')?.reply ?? { headers: [] });
  if (query === undefined && !hasTotal(check)) return 'nothing';
  const [first] = idsIn(check, 'pets1');
  const [next] = idsIn(check, 'nextPage');
  const isOnly = (check.get('pets100')?.records?.length ?? 0) < 2;
  const isFurther = next === undefined ? isOnly : next !== first;
  if (!isFurther)
    return `a way that does not lead further: ${check.all('pets1', 'nextPage').join('; ')}`;
  if (query === undefined) return 'an offset';
  return /[?&]cursor=/.test(query) ? 'a cursor' : `a Link to ${query}`;
}

function hasTotal(check: CheckTranscript): boolean {
  return /^\d+$/.test(check.get('pets1')?.header('x-total-count') ?? '');
}

/** The reply that shows whether `GET /pets/{petId}` announces its end: not all Errors need to. */
function announcing(check: CheckTranscript) {
  const replies = check.all('pet', 'created', 'unknownPet');
  return replies.find(({ accepted }) => accepted) ?? replies[0];
}

/** The headers of the deprecation (RFC 9745, RFC 8594 and RFC 8288) that it has. */
function announced(check: CheckTranscript): string {
  const names = ['deprecation', 'sunset', 'link'];
  const found = names.filter((name) => announcing(check)?.header(name));
  return found.join(', ') || 'nothing';
}

const STOCK = ['stock5', 'stock0', 'stock3'] as const;

/** What settles each assumption about the inventory. */
export const INVENTORY_QUESTIONS: Questions<keyof typeof INVENTORY> = {
  'inventory-on-create': {
    from: ['create', 'inventoryCreated'],
    also: ['inventoryKept'],
    obstacle: noInventory,
    values: (check) => {
      const entry = check.createdEntry('create');
      return [entry ? `quantity ${entry.quantity} and status ${entry.status}` : 'nothing'];
    },
    what: 'GET /inventory: for a created animal,',
    options: { entry: /^quantity 0 and status sold$/, none: /^nothing$/ },
  },
  'inventory-missing-entry': {
    from: ['inventoryCreated'],
    by: ['stock5'],
    also: ['inventoryKept'],
    obstacle: (check) =>
      noInventory(check) ||
      (check.createdEntry('createPending') !== undefined &&
        'every animal that the check creates gets an inventory entry, and it changes no other'),
    options: { 404: status(404), create: ({ accepted }) => accepted },
  },
  'inventory-status': {
    from: STOCK,
    values: (check) => [statusesIn(check, ...STOCK)],
    what: 'PATCH to 5, 0 and 3: statuses',
    options: { unchanged: /^(.+), \1, \1$/, 'follows-quantity': /^available, sold, available$/ },
  },
  'animal-follows-stock': {
    from: ['stock5', 'petAt5', 'stock0', 'petAt0'],
    values: (check) => [statusesIn(check, 'petAt5', 'petAt0')],
    what: 'PATCH to 5 and 0: the pending animal is',
    options: { no: /^pending, pending$/, yes: /^available, sold$/ },
  },
};

function noInventory(check: CheckTranscript): string | false | undefined {
  const entries = check.get('inventoryCreated')?.records ?? [];
  if (idsOf(entries, 'petId').length < entries.length) return 'GET /inventory lists no petIds';
  const kept = check.get('inventoryKept')?.records;
  const isMissing = kept && !withId(kept, check.get('createPending')?.id, 'petId');
  return check.get('stock3')?.accepted && isMissing && 'GET /inventory leaves out entries';
}

function statusesIn(check: CheckTranscript, ...names: readonly RequestName[]): string {
  return names.map((name) => check.get(name)?.record?.status).join(', ');
}

/** The requests that can meet a conflict. */
const CANCELLATIONS = ['cancelShipped', 'cancelAgain', 'cancelCancelled', 'cancel'] as const;

/** What settles each assumption about orders. */
export const ORDER_QUESTIONS: Questions<keyof typeof ORDERS> = {
  'order-status-field': {
    from: ['orders'],
    obstacle: (check) =>
      idsOf(orders(check)).length === 0 && 'GET /store/orders lists no order with an id',
    values: (check) => [typeof orders(check).find((order) => order.status !== undefined)?.status],
    what: 'GET /store/orders: a status of type',
    options: { hidden: /^undefined$/, shown: /^string$/ },
  },
  'cancelled-orders': {
    from: ['orders'],
    also: ['ordersCancelled', 'cancel'],
    obstacle: (check) => {
      if (listsCancelled(check)) return undefined;
      if (!isListed(check, 'orders')) return 'no order that was cancelled was listed before';
      return !check.get('ordersCancelled')?.records && check.whyUnknown('ordersCancelled');
    },
    options: {
      listed: (_, check) => listsCancelled(check) || isListed(check, 'ordersCancelled'),
      removed: (_, check) => !listsCancelled(check) && !isListed(check, 'ordersCancelled'),
    },
  },
  'cancel-again': {
    by: ['cancelAgain', 'cancelCancelled'],
    any: true,
    options: { 409: status(409), 404: status(404), 204: status(204) },
  },
  'conflict-body': {
    by: CANCELLATIONS,
    any: true,
    values: (check) =>
      check
        .all(...CANCELLATIONS)
        .filter(status(409))
        .map(conflictBody),
    what: 'bodies of 409:',
    nothing: 'no 409 was seen; --shipped ID names an order for it',
    options: { error: /^error$/, empty: /^empty$/, problem: /^problem$/ },
  },
  'order-shipping': {
    from: ['orders'],
    also: ['cancel'],
    values: (check) => [
      ...(hasDuePending(check) ? ['accepted'] : []),
      ...check
        .all('cancel')
        .filter(({ sending }) => check.isDue(sending.order))
        .map((it) => (it.accepted ? 'accepted' : String(it.status))),
    ],
    what: 'cancellations past the shipDate:',
    nothing: 'it needs a clock: no pending order is known whose shipDate has passed',
    options: { manual: /^accepted$/, 'at-ship-date': /^409$/ },
  },
  'cancel-restocks': {
    from: ['orders', 'inventoryCancelled'],
    by: ['cancel'],
    values: ({ restocks }) =>
      restocks.map(({ ordered, added }) => `${ordered} ordered, ${added} back`),
    what: 'quantities:',
    nothing: 'no order was cancelled that has a petId, a quantity and an inventory entry',
    options: { no: /, 0 back$/, yes: /^(\d+) ordered, \1 back$/ },
  },
};

function orders(check: CheckTranscript): readonly JsonRecord[] {
  return check.get('orders')?.records ?? [];
}

function listsCancelled(check: CheckTranscript): boolean {
  return orders(check).some((order) => order.status === 'cancelled');
}

/** Whether a list has an order that the check has cancelled. */
function isListed(check: CheckTranscript, name: 'orders' | 'ordersCancelled'): boolean {
  return check.cancelled.some((id) => withId(check.get(name)?.records, id) !== undefined);
}

/** The form of a conflict's body, or what it is instead. */
function conflictBody(conflict: ProbeReply): string {
  const { json, reply } = conflict;
  if (reply.body.length === 0) return 'empty';
  const type = conflict.header('content-type')?.toLowerCase() ?? 'no Content-Type';
  if (type.startsWith('application/problem+json')) return 'problem';
  const isError = type.startsWith('application/json') && isObject(json) && 'code' in json;
  return isError ? 'error' : type;
}

/** Whether an order is listed as pending though its ship date has passed. */
function hasDuePending(check: CheckTranscript): boolean {
  return orders(check).some((it) => it.status === 'pending' && check.isDue(idIn(it)));
}
