import { type AssumptionShape, option } from './assumption-shape.ts';

/** What the document leaves open about orders. */
export const ORDERS = {
  'order-status-field': {
    question: 'Does an order have its status?',
    options: [option('hidden', 'no'), option('shown', 'yes, as `status`')],
    touches: ['listOrders'],
  },
  'cancelled-orders': {
    question: 'Does `GET /store/orders` list cancelled orders?',
    options: [option('listed', 'yes'), option('removed', 'no')],
    touches: ['listOrders'],
  },
  'cancel-again': {
    question: 'What does DELETE return for an order that is already cancelled?',
    options: [
      option('409', '409 Conflict'),
      option('404', '404 Not Found'),
      option('204', '204 No Content'),
    ],
    touches: ['cancelOrder'],
  },
  'conflict-body': {
    question: 'Which body does a 409 have?',
    options: [
      option('error', 'an Error'),
      option('empty', 'none'),
      option('problem', '`application/problem+json` (RFC 9457)'),
    ],
    touches: ['cancelOrder'],
  },
  'order-shipping': {
    question: 'How does a pending order become shipped?',
    options: [
      option('manual', 'only by a scenario or the control API'),
      option('at-ship-date', 'when the clock reaches its `shipDate`'),
    ],
    touches: ['listOrders', 'cancelOrder'],
  },
  'cancel-restocks': {
    question: "Does cancelling add the order's quantity back to the inventory?",
    options: [option('no', 'no'), option('yes', 'yes')],
    touches: ['cancelOrder', 'listInventory'],
  },
} as const satisfies Record<string, AssumptionShape>;
