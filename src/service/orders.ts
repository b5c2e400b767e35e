import type { Order, OrderStatus } from '../contract/records.ts';
import { setQuantity } from './inventory.ts';
import { operation } from './perform.ts';
import { type Body, errorBody, errorReply, type Grounds, type Reply, reply } from './reply.ts';
import { REPRESENTATIONS } from './representation.ts';
import type { World } from './world.ts';
import { listReply } from './written-list.ts';

/** `GET /store/orders`: lists every order. */
export const listOrders = operation(
  'listOrders',
  (reader) => reader.query(),
  (world, _query, grounds) => {
    const { choices, represent, store } = world;
    const shown = choices['order-status-field'] === 'shown';
    const cancelledToo = choices['cancelled-orders'] === 'listed';
    const changesWithTime = shown && choices['order-shipping'] === 'at-ship-date';
    const write = (order: Order): string | undefined => {
      const status = statusOf(world, order);
      if (status === 'cancelled' && !cancelledToo) return undefined;
      return represent.order(shown && order.status !== status ? { ...order, status } : order);
    };
    const way = represent.number + (cancelledToo ? 0 : REPRESENTATIONS);
    const listing = { collection: store.orders, write, way: changesWithTime ? undefined : way };
    return listReply(grounds, listing);
  },
);

/** The status of an order. With `order-shipping: at-ship-date`, it depends on the clock. */
function statusOf(world: World, order: Order): OrderStatus {
  const status = order.status ?? 'pending';
  return world.choices['order-shipping'] === 'at-ship-date' && isDue(world, order)
    ? 'shipped'
    : status;
}

/** Whether an order is pending and its ship date has passed. */
function isDue(world: World, { status = 'pending', shipDate }: Order): boolean {
  if (status !== 'pending' || shipDate === undefined) return false;
  return Date.parse(shipDate) <= world.clock.now();
}

/** `DELETE /store/orders/{orderId}`: cancels a pending order. */
export const cancelOrder = operation(
  'cancelOrder',
  (reader) => {
    reader.query();
    return reader.pathId('orderId');
  },
  (world, orderId, grounds) => {
    const order = world.store.orders.get(orderId);
    if (order === undefined) {
      const message = `no order has the id ${orderId}`;
      return errorReply(grounds, 'order_not_found', 404, message, { basis: grounds.basis });
    }
    if (isDue(world, order)) grounds.decidedBy('order-shipping');
    switch (statusOf(world, order)) {
      case 'pending':
        cancel(world, order);
        return reply(grounds, 204);
      case 'shipped':
        return conflict(grounds, 'order_already_shipped', `order ${orderId} has shipped`);
      case 'cancelled':
        return cancelAgain(world, orderId, grounds);
    }
  },
);

function cancel(world: World, order: Order): void {
  world.store.orders.set({ ...order, status: 'cancelled' });
  if (world.choices['cancel-restocks'] === 'no') return;
  if (order.petId === undefined || order.quantity === undefined) return;
  const entry = world.store.inventory.get(order.petId);
  if (entry === undefined) return;
  setQuantity(world, entry, Math.min(entry.quantity + order.quantity, Number.MAX_SAFE_INTEGER));
}

function cancelAgain(world: World, orderId: bigint, grounds: Grounds): Reply {
  grounds.decidedBy('cancel-again');
  const message = `order ${orderId} is already cancelled`;
  switch (world.choices['cancel-again']) {
    case '409':
      return conflict(grounds, 'order_already_cancelled', message);
    case '404':
      return errorReply(grounds, 'order_already_cancelled', 404, message);
    case '204':
      return reply(grounds, 204);
  }
}

type ConflictCode = 'order_already_shipped' | 'order_already_cancelled';

/** A 409. The document does not show its body. */
function conflict(grounds: Grounds, code: ConflictCode, message: string): Reply {
  return { ...reply(grounds, 409, conflictBody(grounds, code, message)), reason: message };
}

/** The body of a 409, in the format of `conflict-body`. */
export function conflictBody(
  { choices }: Pick<Grounds, 'choices'>,
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
