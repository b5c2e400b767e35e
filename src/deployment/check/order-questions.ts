import type { INVENTORY } from '../../contract/assumptions/inventory-assumptions.ts';
import type { ORDERS } from '../../contract/assumptions/order-assumptions.ts';
import { isObject } from '../../contract/records.ts';
import { idIn, idsOf, type JsonRecord, withId } from '../reply-parts.ts';
import { notCreated } from './animal-questions.ts';
import type { CheckTranscript } from './check-transcript.ts';
import type { ProbeReply, RequestName } from './probe-reply.ts';
import { accepted, nothingIn, type Questions, status } from './question.ts';

const STOCK = ['stock5', 'stock0', 'stock3'] as const;

/** What settles each assumption about the inventory. */
export const INVENTORY_QUESTIONS: Questions<keyof typeof INVENTORY> = {
  'inventory-on-create': {
    by: ['create', 'inventoryCreated'],
    obstacle: (check) => notCreated(check) ?? noInventory(check),
    values: (check) => {
      const { quantity, status } = check.createdEntry('create') ?? {};
      return [check.createdEntry('create') && `quantity ${quantity} and status ${status}`];
    },
    what: 'GET /inventory: for a created animal,',
    value: { entry: /^quantity 0 and status sold$/, none: (it) => it === undefined },
  },
  'inventory-missing-entry': {
    by: ['stock5', 'inventoryCreated'],
    obstacle: (check) =>
      noInventory(check) ??
      (check.createdEntry('createPending') === undefined
        ? undefined
        : 'every animal that the check creates gets an inventory entry, and it changes no other'),
    all: {
      404: (check) => check.status('stock5') === 404,
      create: (check) => check.accepted('stock5'),
    },
  },
  'inventory-status': {
    by: STOCK,
    obstacle: noStock,
    values: (check) => [statusesIn(check, ...STOCK)],
    what: 'PATCH to 5, 0 and 3: statuses',
    value: { unchanged: /^(.+), \1, \1$/, 'follows-quantity': /^available, sold, available$/ },
  },
  'animal-follows-stock': {
    by: ['stock5', 'petAt5', 'stock0', 'petAt0'],
    obstacle: (check) =>
      noStock(check) ?? (check.status('petAt5') === 200 ? undefined : check.whyUnknown('petAt5')),
    values: (check) => [statusesIn(check, 'petAt5', 'petAt0')],
    what: 'PATCH to 5 and 0: the pending animal is',
    value: { no: /^pending, pending$/, yes: /^available, sold$/ },
  },
};

function noInventory(check: CheckTranscript): string | undefined {
  const entries = check.list('inventoryCreated');
  if (entries === undefined) return check.whyUnknown('inventoryCreated');
  if (idsOf(entries, 'petId').length < entries.length) return 'GET /inventory lists no petIds';
  const kept = check.list('inventoryKept');
  return check.accepted('stock3') && kept && !withId(kept, check.id('createPending'), 'petId')
    ? 'GET /inventory leaves out entries'
    : undefined;
}

function noStock(check: CheckTranscript): string | undefined {
  const unread = STOCK.find((name) => typeof check.record(name)?.status !== 'string');
  return unread && `the stock of a created animal cannot be set: ${check.whyUnknown(unread)}`;
}

function statusesIn(check: CheckTranscript, ...names: readonly RequestName[]): string {
  const replies = check.all(...names);
  return replies.map(({ record }) => record?.status).join(', ');
}

/** The requests that can meet a conflict. */
const CANCELLATIONS = ['cancelShipped', 'cancelAgain', 'cancelCancelled', 'cancel'] as const;

/** What settles each assumption about orders. */
export const ORDER_QUESTIONS: Questions<keyof typeof ORDERS> = {
  'order-status-field': {
    by: ['orders'],
    obstacle: (check) =>
      idsOf(orders(check)).length > 0
        ? undefined
        : nothingIn(['orders'], 'GET /store/orders lists no order with an id')(check),
    all: {
      hidden: (check) => orders(check).every((order) => order.status === undefined),
      shown: (check) => orders(check).some((order) => typeof order.status === 'string'),
    },
    saw: (check) =>
      `GET /store/orders: a status that is ${JSON.stringify(orders(check)[0]?.status)}`,
  },
  'cancelled-orders': {
    by: ['ordersCancelled', 'orders'],
    any: true,
    obstacle: (check) => {
      if (listsCancelled(check)) return undefined;
      const why = isListed(check, 'orders')
        ? undefined
        : 'no order that was cancelled was listed before';
      return check.whyNoList('orders', 'ordersCancelled') ?? why;
    },
    all: {
      listed: (check) => listsCancelled(check) || isListed(check, 'ordersCancelled'),
      removed: (check) => !listsCancelled(check) && !isListed(check, 'ordersCancelled'),
    },
  },
  'cancel-again': {
    by: ['cancelAgain', 'cancelCancelled'],
    any: true,
    reply: { 409: status(409), 404: status(404), 204: status(204) },
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
    nothing: (check) =>
      `no 409 was seen; --shipped ID names an order for it: ${check.all(...CANCELLATIONS).join('; ')}`,
    value: { error: /^error$/, empty: /^empty$/, problem: /^problem$/ },
  },
  'order-shipping': {
    by: ['orders', 'cancel'],
    any: true,
    obstacle: (check) =>
      hasDuePending(check) || dueCancels(check).length > 0
        ? undefined
        : (check.whyNoList('orders') ??
          'it needs a clock: no pending order is known whose shipDate has passed'),
    all: {
      manual: (check) =>
        hasDuePending(check) || (dueCancels(check).length > 0 && dueCancels(check).every(accepted)),
      'at-ship-date': (check) =>
        dueCancels(check).length > 0 && dueCancels(check).every(status(409)),
    },
  },
  'cancel-restocks': {
    by: ['cancel', 'inventoryCancelled'],
    obstacle: (check) =>
      check.restocks.length > 0
        ? undefined
        : nothingIn(
            ['orders', 'inventoryCancelled'],
            'no order was cancelled that has a petId, a quantity and an inventory entry',
          )(check),
    all: {
      no: (check) => check.restocks.every(({ before, after }) => after === before),
      yes: (check) =>
        check.restocks.every(({ before, after, ordered }) => after === before + ordered),
    },
    saw: (check) =>
      check.restocks
        .map(({ petId, before, after }) => `entry ${petId}: quantity ${before}, then ${after}`)
        .join('; '),
  },
};

function orders(check: CheckTranscript): readonly JsonRecord[] {
  return check.list('orders') ?? [];
}

function listsCancelled(check: CheckTranscript): boolean {
  return orders(check).some((order) => order.status === 'cancelled');
}

/** Whether a list has an order that the check has cancelled. */
function isListed(check: CheckTranscript, name: 'orders' | 'ordersCancelled'): boolean {
  return check.cancelled.some(({ order }) => withId(check.list(name), order) !== undefined);
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

/** Replies to the cancellation of orders whose ship date has passed. */
function dueCancels(check: CheckTranscript): readonly ProbeReply[] {
  return check.all('cancel').filter(({ order }) => check.isDue(order));
}
