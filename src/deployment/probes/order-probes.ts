import type { ORDERS } from '../../contract/assumptions/order-assumptions.ts';
import { isObject } from '../../contract/records.ts';
import type { CheckTranscript, ProbeReply } from '../check-transcript.ts';
import { idIn, idsOf, type JsonRecord, withId } from '../record-ids.ts';
import { clockOf } from './animal-probes.ts';
import { type Look, type Probes, without } from './probe-shape.ts';

/** What settles each assumption about orders. */
export const ORDER_PROBES: Probes<keyof typeof ORDERS> = {
  'order-status-field': {
    requests: ['orders'],
    obstacle: without(
      (check) => idsOf(orders(check)),
      'GET /store/orders lists no order with an id',
      'orders',
    ),
    options: {
      hidden: (check) => orders(check).every((order) => order.status === undefined),
      shown: (check) => orders(check).some((order) => typeof order.status === 'string'),
    },
    saw: (check) =>
      `GET /store/orders: a status that is ${JSON.stringify(orders(check)[0]?.status)}`,
  },
  'cancelled-orders': {
    requests: ['ordersCancelled', 'orders'],
    any: true,
    obstacle: (check) => {
      if (listsCancelled(check)) return undefined;
      const why = check.whyNoList('orders', 'ordersCancelled');
      if (why !== undefined) return why;
      return isListed(check, 'orders')
        ? undefined
        : 'no order that was cancelled was listed before';
    },
    options: {
      listed: (check) => listsCancelled(check) || isListed(check, 'ordersCancelled'),
      removed: (check) => !listsCancelled(check) && !isListed(check, 'ordersCancelled'),
    },
  },
  'cancel-again': {
    requests: ['cancelAgain', 'cancelCancelled'],
    any: true,
    options: { 409: againGets(409), 404: againGets(404), 204: againGets(204) },
  },
  'conflict-body': {
    requests: ['cancelShipped', 'cancelAgain', 'cancelCancelled', 'cancel'],
    any: true,
    obstacle: (check) =>
      conflicts(check).length === 0
        ? `no 409 was seen; --shipped ID names an order for it: ${cancellations(check).join('; ')}`
        : undefined,
    options: {
      error: conflictsHave('error'),
      empty: conflictsHave('empty'),
      problem: conflictsHave('problem'),
    },
    saw: (check) =>
      conflicts(check)
        .map((it) => `${it} with ${it.header('content-type') ?? 'no Content-Type'}`)
        .join(', '),
  },
  'order-shipping': {
    requests: ['orders', 'cancel'],
    any: true,
    obstacle: (check) =>
      hasDuePending(check) || dueCancels(check).length > 0
        ? undefined
        : (check.whyNoList('orders') ??
          'it needs a clock: no pending order is known whose shipDate has passed'),
    options: {
      manual: (check) =>
        hasDuePending(check) ||
        (dueCancels(check).length > 0 && dueCancels(check).every((it) => it.accepted)),
      'at-ship-date': (check) =>
        dueCancels(check).length > 0 && dueCancels(check).every(({ status }) => status === 409),
    },
  },
  'cancel-restocks': {
    requests: ['cancel', 'inventoryCancelled'],
    obstacle: without(
      restocks,
      'no order was cancelled that has a petId, a quantity and an inventory entry',
      'orders',
      'inventoryCancelled',
    ),
    options: {
      no: (check) => restocks(check).every(({ before, after }) => after === before),
      yes: (check) => restocks(check).every(({ before, after, added }) => after === before + added),
    },
    saw: (check) =>
      restocks(check)
        .map(({ petId, before, after }) => `entry ${petId}: quantity ${before}, then ${after}`)
        .join('; '),
  },
};

function orders(check: CheckTranscript): readonly JsonRecord[] {
  return check.list('orders') ?? [];
}

function listsCancelled(check: CheckTranscript): boolean {
  return orders(check).some(({ status }) => status === 'cancelled');
}

/** The orders that the check has cancelled. */
export function cancelled(check: CheckTranscript): readonly ProbeReply[] {
  return check.all('cancel').filter((it) => it.accepted);
}

/** Whether a list has an order that the check has cancelled. */
function isListed(check: CheckTranscript, name: 'orders' | 'ordersCancelled'): boolean {
  return cancelled(check).some(({ order }) => withId(check.list(name), order) !== undefined);
}

function againGets(status: number): Look<boolean> {
  return (check) => check.all('cancelAgain', 'cancelCancelled').every((it) => it.status === status);
}

function cancellations(check: CheckTranscript): readonly ProbeReply[] {
  return check.all('cancelShipped', 'cancelAgain', 'cancelCancelled', 'cancel');
}

function conflicts(check: CheckTranscript): readonly ProbeReply[] {
  return cancellations(check).filter(({ status }) => status === 409);
}

function conflictsHave(body: 'error' | 'empty' | 'problem'): Look<boolean> {
  return (check) => conflicts(check).every((it) => conflictBody(it) === body);
}

function conflictBody(conflict: ProbeReply): 'error' | 'empty' | 'problem' | 'other' {
  const { json, reply } = conflict;
  if (reply.body.length === 0) return 'empty';
  const type = conflict.header('content-type')?.toLowerCase() ?? '';
  if (type.startsWith('application/problem+json')) return 'problem';
  const isError = type.startsWith('application/json') && isObject(json) && 'code' in json;
  return isError ? 'error' : 'other';
}

/** Whether the ship date of an order has passed by the deployment's clock. */
export function isDue(check: CheckTranscript, order: bigint | undefined): boolean {
  const shipDate = withId(orders(check), order)?.shipDate;
  return typeof shipDate === 'string' && Date.parse(shipDate) <= (clockOf(check) ?? Date.now());
}

/** Whether an order is listed as pending though its ship date has passed. */
function hasDuePending(check: CheckTranscript): boolean {
  return orders(check).some((it) => it.status === 'pending' && isDue(check, idIn(it)));
}

/** Replies to the cancellation of orders whose ship date has passed. */
function dueCancels(check: CheckTranscript): readonly ProbeReply[] {
  return check.all('cancel').filter(({ order }) => isDue(check, order));
}

interface Restock {
  readonly petId: bigint;
  readonly before: number;
  readonly after: number;
  readonly added: number;
}

/** What cancelling did to the entries of the orders' animals. */
export function restocks(check: CheckTranscript): Restock[] {
  const lists = [
    check.list('inventoryCreated') ?? check.list('inventory'),
    check.list('inventoryCancelled'),
  ];
  const added = new Map<bigint, number>();
  for (const { order } of cancelled(check)) {
    const known = withId(orders(check), order);
    const petId = idIn(known, 'petId');
    if (petId === undefined || typeof known?.quantity !== 'number') continue;
    added.set(petId, (added.get(petId) ?? 0) + known.quantity);
  }
  return [...added].flatMap(([petId, quantity]) => {
    const [before, after] = lists.map((list) => withId(list, petId, 'petId')?.quantity);
    if (typeof before !== 'number' || typeof after !== 'number' || quantity === 0) return [];
    return [{ petId, before, after, added: quantity }];
  });
}
