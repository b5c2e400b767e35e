import { parseDateTime } from '../contract/date-time.ts';
import type { Order, OrderStatus } from '../contract/records.ts';
import type { Store } from '../store/store.ts';
import { writeList } from '../store/store-text.ts';
import { withQuantity } from './inventory.ts';
import { operation, type ServiceState } from './operation.ts';
import {
  type AssumptionTrace,
  type Content,
  createReply,
  EMPTY,
  errorBody,
  errorContent,
  errorReply,
  jsonReply,
  type Reply,
} from './reply.ts';

export const listOrders = operation(
  'listOrders',
  (reader) => reader.query(),
  (state, _query, decidedBy) => {
    const { choices, store } = state;
    const isDueShown =
      choices['order-status-field'] === 'shown' && choices['order-shipping'] === 'at-ship-date';
    // A list whose statuses depend on the clock must not be cached.
    const list = isDueShown
      ? writeOrders(state, (order) => ({ ...order, status: currentStatus(state, order) }))
      : store.orders.list(choices, '', () => writeOrders(state));
    return jsonReply(decidedBy, 200, list.text);
  },
);

function writeOrders(
  { choices, represent, store }: ServiceState,
  show = (order: Order): Order => order,
) {
  const isListed = ({ status }: Order): boolean =>
    status !== 'cancelled' || choices['cancelled-orders'] === 'listed';
  const orders = [...store.orders.ascending()].filter(isListed);
  return writeList(orders, (order) => represent.order(show(order)));
}

function currentStatus(state: ServiceState, order: Order): OrderStatus {
  const status = order.status ?? 'pending';
  return state.choices['order-shipping'] === 'at-ship-date' && isDue(state, order)
    ? 'shipped'
    : status;
}

function isDue(state: ServiceState, { status = 'pending', shipDate }: Order): boolean {
  const due = status === 'pending' && shipDate !== undefined ? parseDateTime(shipDate) : undefined;
  return due !== undefined && due <= state.now;
}

export const cancelOrder = operation(
  'cancelOrder',
  (reader) => {
    reader.query();
    return reader.pathId('orderId');
  },
  (state, orderId, decidedBy) => {
    const order = state.store.orders.get(orderId);
    if (order === undefined) {
      const message = `no order has the id ${orderId}`;
      return errorReply(decidedBy, 'order_not_found', 404, message, { basis: decidedBy.basis });
    }
    if (isDue(state, order)) decidedBy.add('order-shipping');
    switch (currentStatus(state, order)) {
      case 'pending':
        return { reply: createReply(decidedBy.basis, 204), store: cancel(state, order) };
      case 'shipped':
        return conflict(decidedBy, 'order_already_shipped', `order ${orderId} has shipped`);
      case 'cancelled':
        return cancelAgain(state, orderId, decidedBy);
    }
  },
);

function cancel({ choices, store: before }: ServiceState, order: Order): Store {
  const store = { ...before, orders: before.orders.with({ ...order, status: 'cancelled' }) };
  if (choices['cancel-restocks'] === 'no') return store;
  if (order.petId === undefined || order.quantity === undefined) return store;
  const entry = store.inventory.get(order.petId);
  if (entry === undefined) return store;
  return withQuantity({ choices, store }, entry, entry.quantity + order.quantity).store;
}

function cancelAgain(state: ServiceState, orderId: bigint, decidedBy: AssumptionTrace): Reply {
  decidedBy.add('cancel-again');
  const message = `order ${orderId} is already cancelled`;
  switch (state.choices['cancel-again']) {
    case '409':
      return conflict(decidedBy, 'order_already_cancelled', message);
    case '404':
      return errorReply(decidedBy, 'order_already_cancelled', 404, message);
    case '204':
      return createReply(decidedBy.basis, 204);
  }
}

type ConflictCode = 'order_already_shipped' | 'order_already_cancelled';

/** Creates a 409. The document does not show what its body is. */
function conflict(decidedBy: AssumptionTrace, code: ConflictCode, message: string): Reply {
  const content = conflictContent(decidedBy, code, message);
  return createReply(decidedBy.basis, 409, content, [], message);
}

export function conflictContent(
  { choices }: Pick<AssumptionTrace, 'choices'>,
  code: ConflictCode,
  message: string,
): Content {
  switch (choices['conflict-body']) {
    case 'error':
      return errorContent(choices, code, 409, message);
    case 'empty':
      return EMPTY;
    case 'problem': {
      const problem = { type: 'about:blank', title: 'Conflict', status: 409, detail: message };
      const { code: spelled } = errorBody(choices, code, 409, message);
      const body = JSON.stringify({ ...problem, code: spelled });
      return { body, mediaType: 'application/problem+json' };
    }
  }
}
