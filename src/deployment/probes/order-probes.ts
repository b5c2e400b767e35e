import type { ORDERS } from '../../contract/assumptions/order-assumptions.ts';
import { isObject } from '../../contract/records.ts';
import { type Exchange, idIn, idsOf, type JsonRecord, type Seen, withId } from '../seen.ts';
import { clockOf } from './animal-probes.ts';
import type { Probes } from './probe-shape.ts';

/** What settles each assumption about orders. */
export const ORDER_PROBES: Probes<keyof typeof ORDERS> = {
  'order-status-field': {
    asks: ['orders'],
    obstacle: (seen) =>
      idsOf(listed(seen)).length === 0
        ? (seen.whyNoList('orders') ?? 'GET /store/orders lists no order with an id')
        : undefined,
    options: {
      hidden: (seen) => listed(seen).every((order) => order.status === undefined),
      shown: (seen) => listed(seen).some((order) => typeof order.status === 'string'),
    },
    saw: (seen) => `GET /store/orders: a status that is ${JSON.stringify(listed(seen)[0]?.status)}`,
  },
  'cancelled-orders': {
    asks: ['ordersCancelled', 'orders'],
    any: true,
    obstacle: (seen) => {
      if (listed(seen).some(isCancelled)) return undefined;
      const why = seen.whyNoList('orders', 'ordersCancelled');
      if (why !== undefined) return why;
      return isListed(seen, 'orders') ? undefined : 'no order that was cancelled was listed before';
    },
    options: {
      listed: (seen) => listed(seen).some(isCancelled) || isListed(seen, 'ordersCancelled'),
      removed: (seen) => !listed(seen).some(isCancelled) && !isListed(seen, 'ordersCancelled'),
    },
  },
  'cancel-again': {
    asks: ['cancelAgain', 'cancelCancelled'],
    any: true,
    options: {
      409: (seen) => againGets(seen, 409),
      404: (seen) => againGets(seen, 404),
      204: (seen) => againGets(seen, 204),
    },
  },
  'conflict-body': {
    asks: ['cancelShipped', 'cancelAgain', 'cancelCancelled', 'cancel'],
    any: true,
    obstacle: (seen) =>
      conflicts(seen).length === 0
        ? `no 409 was seen; --shipped ID names an order for it: ${conflictReplies(seen).join('; ')}`
        : undefined,
    options: {
      error: (seen) => conflicts(seen).every((it) => conflictBody(it) === 'error'),
      empty: (seen) => conflicts(seen).every((it) => conflictBody(it) === 'empty'),
      problem: (seen) => conflicts(seen).every((it) => conflictBody(it) === 'problem'),
    },
    saw: (seen) =>
      conflicts(seen)
        .map((it) => `${it} with ${it.header('content-type') ?? 'no Content-Type'}`)
        .join(', '),
  },
  'order-shipping': {
    asks: ['orders', 'cancel'],
    any: true,
    obstacle: (seen) =>
      duePending(seen) || dueCancels(seen).length > 0
        ? undefined
        : (seen.whyNoList('orders') ??
          'it needs a clock: no pending order is known whose shipDate has passed'),
    options: {
      manual: (seen) =>
        duePending(seen) ||
        (dueCancels(seen).length > 0 && dueCancels(seen).every((it) => it.accepted)),
      'at-ship-date': (seen) =>
        dueCancels(seen).length > 0 && dueCancels(seen).every(({ status }) => status === 409),
    },
  },
  'cancel-restocks': {
    asks: ['cancel', 'inventoryCancelled'],
    obstacle: (seen) =>
      restocks(seen).length === 0
        ? (seen.whyNoList('orders', 'inventoryCancelled') ??
          'no order was cancelled that has a petId, a quantity and an inventory entry')
        : undefined,
    options: {
      no: (seen) => restocks(seen).every(({ before, after }) => after === before),
      yes: (seen) => restocks(seen).every(({ before, after, added }) => after === before + added),
    },
    saw: (seen) =>
      restocks(seen)
        .map(({ petId, before, after }) => `entry ${petId}: quantity ${before}, then ${after}`)
        .join('; '),
  },
};

function listed(seen: Seen): readonly JsonRecord[] {
  return seen.list('orders') ?? [];
}

function isCancelled({ status }: JsonRecord): boolean {
  return status === 'cancelled';
}

/** The orders that the check has cancelled. */
export function cancelled(seen: Seen): readonly Exchange[] {
  return seen.all('cancel').filter((it) => it.accepted);
}

/** Whether a list has an order that the check has cancelled. */
function isListed(seen: Seen, name: 'orders' | 'ordersCancelled'): boolean {
  return cancelled(seen).some(({ order }) => withId(seen.list(name), order) !== undefined);
}

function againGets(seen: Seen, status: number): boolean {
  return seen.all('cancelAgain', 'cancelCancelled').every((it) => it.status === status);
}

function conflicts(seen: Seen): readonly Exchange[] {
  return conflictReplies(seen).filter(({ status }) => status === 409);
}

function conflictReplies(seen: Seen): readonly Exchange[] {
  return seen.all('cancelShipped', 'cancelAgain', 'cancelCancelled', 'cancel');
}

function conflictBody(exchange: Exchange): 'error' | 'empty' | 'problem' | 'other' {
  const { json, reply } = exchange;
  if (reply.body.length === 0) return 'empty';
  const type = exchange.header('content-type')?.toLowerCase() ?? '';
  if (type.startsWith('application/problem+json')) return 'problem';
  return type.startsWith('application/json') && isObject(json) && 'code' in json
    ? 'error'
    : 'other';
}

/** Whether the ship date of an order has passed by the deployment's clock. */
export function isDue(seen: Seen, order: bigint | undefined): boolean {
  const shipDate = withId(listed(seen), order)?.shipDate;
  return typeof shipDate === 'string' && Date.parse(shipDate) <= (clockOf(seen) ?? Date.now());
}

/** Whether an order is listed as pending though its ship date has passed. */
function duePending(seen: Seen): boolean {
  return listed(seen).some((it) => it.status === 'pending' && isDue(seen, idIn(it)));
}

/** Replies to the cancellation of orders whose ship date has passed. */
function dueCancels(seen: Seen): readonly Exchange[] {
  return seen.all('cancel').filter(({ order }) => isDue(seen, order));
}

interface Restock {
  readonly petId: bigint;
  readonly before: number;
  readonly after: number;
  readonly added: number;
}

/** What cancelling did to the entries of the orders' animals. */
export function restocks(seen: Seen): Restock[] {
  const before = seen.list('inventoryCreated') ?? seen.list('inventory');
  const after = seen.list('inventoryCancelled');
  const added = new Map<bigint, number>();
  for (const { order } of cancelled(seen)) {
    const known = withId(listed(seen), order);
    const petId = idIn(known, 'petId');
    if (petId === undefined || typeof known?.quantity !== 'number') continue;
    added.set(petId, (added.get(petId) ?? 0) + known.quantity);
  }
  return [...added].flatMap(([petId, quantity]) => {
    const [was, is] = [before, after].map((list) => withId(list, petId, 'petId')?.quantity);
    if (typeof was !== 'number' || typeof is !== 'number' || quantity === 0) return [];
    return [{ petId, before: was, after: is, added: quantity }];
  });
}
