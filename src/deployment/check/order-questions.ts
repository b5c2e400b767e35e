import type { INVENTORY, ORDERS } from '../../contract/assumptions/record-assumptions.ts';
import { isObject } from '../../contract/records.ts';
import { idIn, idsOf, type JsonRecord, withId } from '../deployment-reply.ts';
import type { CheckTranscript, ProbeReply, RequestName } from './check-transcript.ts';
import { type Questions, status } from './question.ts';

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
      noInventory(check) ??
      (check.createdEntry('createPending') === undefined
        ? undefined
        : 'every animal that the check creates gets an inventory entry, and it changes no other'),
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

function noInventory(check: CheckTranscript): string | undefined {
  const entries = check.get('inventoryCreated')?.records ?? [];
  if (idsOf(entries, 'petId').length < entries.length) return 'GET /inventory lists no petIds';
  const kept = check.get('inventoryKept')?.records;
  const isMissing = kept && !withId(kept, check.get('createPending')?.id, 'petId');
  return check.get('stock3')?.accepted && isMissing
    ? 'GET /inventory leaves out entries'
    : undefined;
}

function statusesIn(check: CheckTranscript, ...names: readonly RequestName[]): string {
  return check
    .all(...names)
    .map(({ record }) => record?.status)
    .join(', ');
}

/** The requests that can meet a conflict. */
const CANCELLATIONS = ['cancelShipped', 'cancelAgain', 'cancelCancelled', 'cancel'] as const;

/** What settles each assumption about orders. */
export const ORDER_QUESTIONS: Questions<keyof typeof ORDERS> = {
  'order-status-field': {
    from: ['orders'],
    obstacle: (check) =>
      idsOf(orders(check)).length > 0 ? undefined : 'GET /store/orders lists no order with an id',
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
      return check.get('ordersCancelled')?.records
        ? undefined
        : check.whyUnknown('ordersCancelled');
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
