import type { Order, OrderStatus } from '../contract/records.ts';
import type { Store } from '../store/store.ts';
import { writeList } from '../store/store-text.ts';
import { withQuantity } from './inventory.ts';
import { operation, type World } from './operation.ts';
import {
  type AssumptionTrace,
  type Body,
  errorBody,
  errorReply,
  listReply,
  type Reply,
  reply,
} from './reply.ts';

export const listOrders = operation(
  'listOrders',
  (reader) => reader.query(),
  (world, _query, decidedBy) => {
    const { choices, store } = world;
    const isDueShown =
      choices['order-status-field'] === 'shown' && choices['order-shipping'] === 'at-ship-date';
    // A list that depends on the clock is not kept.
    const list = isDueShown
      ? writeOrders(world, (order) => ({ ...order, status: orderStatus(world, order) }))
      : store.orders.list(choices, '', () => writeOrders(world));
    return listReply(decidedBy, list);
  },
);

function writeOrders({ choices, represent, store }: World, show = (order: Order): Order => order) {
  const isListed = ({ status }: Order): boolean =>
    status !== 'cancelled' || choices['cancelled-orders'] === 'listed';
  const orders = [...store.orders.ascending()].filter(isListed);
  return writeList(orders, (order) => represent.order(show(order)));
}

/** The status of an order. With `order-shipping: at-ship-date`, it depends on the clock. */
function orderStatus(world: World, order: Order): OrderStatus {
  const status = order.status ?? 'pending';
  return world.choices['order-shipping'] === 'at-ship-date' && isDue(world, order)
    ? 'shipped'
    : status;
}

function isDue(world: World, { status = 'pending', shipDate }: Order): boolean {
  if (status !== 'pending' || shipDate === undefined) return false;
  return Date.parse(shipDate) <= world.now;
}

export const cancelOrder = operation(
  'cancelOrder',
  (reader) => {
    reader.query();
    return reader.pathId('orderId');
  },
  (world, orderId, decidedBy) => {
    const order = world.store.orders.get(orderId);
    if (order === undefined) {
      const message = `no order has the id ${orderId}`;
      return errorReply(decidedBy, 'order_not_found', 404, message, { basis: decidedBy.basis });
    }
    if (isDue(world, order)) decidedBy.add('order-shipping');
    switch (orderStatus(world, order)) {
      case 'pending':
        return { reply: reply(decidedBy, 204), store: cancel(world, order) };
      case 'shipped':
        return conflict(decidedBy, 'order_already_shipped', `order ${orderId} has shipped`);
      case 'cancelled':
        return cancelAgain(world, orderId, decidedBy);
    }
  },
);

function cancel({ choices, store: before }: World, order: Order): Store {
  const store = { ...before, orders: before.orders.with({ ...order, status: 'cancelled' }) };
  if (choices['cancel-restocks'] === 'no') return store;
  if (order.petId === undefined || order.quantity === undefined) return store;
  const entry = store.inventory.get(order.petId);
  if (entry === undefined) return store;
  return withQuantity({ choices, store }, entry, entry.quantity + order.quantity).store;
}

function cancelAgain(world: World, orderId: bigint, decidedBy: AssumptionTrace): Reply {
  decidedBy.add('cancel-again');
  const message = `order ${orderId} is already cancelled`;
  switch (world.choices['cancel-again']) {
    case '409':
      return conflict(decidedBy, 'order_already_cancelled', message);
    case '404':
      return errorReply(decidedBy, 'order_already_cancelled', 404, message);
    case '204':
      return reply(decidedBy, 204);
  }
}

type ConflictCode = 'order_already_shipped' | 'order_already_cancelled';

/** A 409. The document does not show its body. */
function conflict(decidedBy: AssumptionTrace, code: ConflictCode, message: string): Reply {
  return { ...reply(decidedBy, 409, conflictBody(decidedBy, code, message)), reason: message };
}

export function conflictBody(
  { choices }: Pick<AssumptionTrace, 'choices'>,
  code: ConflictCode,
  message: string,
): Body {
  const error = errorBody(choices, code, 409, message);
  switch (choices['conflict-body']) {
    case 'error':
      return { kind: 'json', text: JSON.stringify(error) };
    case 'empty':
      return { kind: 'none' };
    case 'problem': {
      const problem = { type: 'about:blank', title: 'Conflict', status: 409, detail: message };
      const text = JSON.stringify({ ...problem, code: error.code });
      return { kind: 'json', text, mediaType: 'application/problem+json' };
    }
  }
}
