import { isObject } from '../../../../core/json.ts';
import { findById, readId, readIds, UNKNOWN_WORD, unless } from '../../deployment-reply.ts';
import type { CheckTranscript, ProbeReply } from '../check-transcript.ts';
import type { Need, QuestionTable } from './question.ts';
import {
  accepted,
  askOrders,
  call,
  NO_KEY,
  type QuestionMembers,
  refused,
  status,
  uniqueIds,
  unusedId,
} from './question.ts';

const cancel = (why: string, more?: QuestionMembers) => call('cancelOrder', '', why, more);

const UNKNOWN_ORDER: Need = {
  description: 'an id that no order has',
  find: (check, { cancel = [], shipped = [], cancelled = [] }) =>
    unusedId([...readIds(check.records('orders')), ...cancel, ...shipped, ...cancelled]),
};

const CANCELLED_ORDER: Need = {
  description: 'an order that was cancelled',
  after: 'cancel',
  find: (check) => check.cancelled[0],
};

const CANCELLATIONS = ['cancelShipped', 'cancelAgain', 'cancelCancelled', 'cancel'] as const;

export const ORDER_QUESTIONS = {
  orders: askOrders('', 'the orders', {
    status: 200,
    rules: [uniqueIds('id')],
    settles: 'order-status-field',
    from: ['orders'],
    obstacle: (check) =>
      readIds(check.records('orders')).length === 0 &&
      'GET /store/orders lists no order with an id',
    values: (check) => [
      typeof check.records('orders').find(({ status }) => status !== undefined)?.status,
    ],
    options: { hidden: /^undefined$/, shown: /^string$/ },
  }),
  unknownQuery: askOrders(`?${UNKNOWN_WORD}=1`, 'an unknown query parameter', {
    settles: 'unknown-query',
    options: { ignore: status(200), reject: refused },
  }),
  ordersPage: askOrders('?limit=1', 'that orders have no pages', {
    compares: 'orders',
    rules: [
      ({ records, beside = records }) => {
        const count = beside?.length;
        const holds = records === undefined || records.length === count;
        return unless(holds, '$', `all ${count} orders`, `${records?.length}`);
      },
    ],
  }),
  getOrder: {
    operation: undefined,
    method: 'GET',
    path: '/store/orders/{}',
    needs: UNKNOWN_ORDER,
    why: 'a method that the path does not have',
    settles: 'unknown-method',
    options: {
      405: ({ status, header }) => status === 405 && header('allow') !== undefined,
      404: status(404),
    },
  },
  ordersNoKey: askOrders('', 'a missing key', NO_KEY),
  cancel: cancel('a pending order', {
    each: 'cancel',
    status: 204,
    // The user may have named an order that cannot be cancelled.
    excuse: ({ status }) => status === 404 || status === 409,
    settles: 'order-shipping',
    from: ['orders'],
    also: ['cancel'],
    values: listShippings,
    nothing: 'no pending order is past its shipDate',
    options: { manual: /^accepted$/, 'at-ship-date': /^409$/ },
  }),
  ordersAfter: askOrders('', 'what became of cancelled orders', {
    needs: CANCELLED_ORDER,
    status: 200,
    isAffected: (check) =>
      check.cancelled.every((id) => {
        const after = findById(check.records('ordersAfter'), id);
        return after === undefined || after.status !== check.order(id)?.status;
      }),
    settles: 'cancelled-orders',
    from: ['orders'],
    also: ['ordersAfter', 'cancel'],
    obstacle: (check) => {
      if (listsCancelled(check)) return undefined;
      if (!isListed(check, 'orders')) return 'no order that was cancelled was listed before';
      return !check.get('ordersAfter')?.records && check.whyUnknown('ordersAfter');
    },
    values: (check) => [
      listsCancelled(check) || isListed(check, 'ordersAfter') ? 'listed' : 'removed',
    ],
  }),
  cancelAgain: cancel('an order that was cancelled just now', { needs: CANCELLED_ORDER }),
  cancelUnknown: cancel('an order that does not exist', { needs: UNKNOWN_ORDER, status: 404 }),
  cancelNoKey: cancel('a missing key', { needs: UNKNOWN_ORDER, ...NO_KEY }),
  cancelShipped: cancel('a shipped order', {
    each: 'shipped',
    spares: (check, order) =>
      check.isShipped(order)
        ? undefined
        : `GET /store/orders does not show that order ${order} has shipped, so it is not cancelled`,
    status: 409,
    settles: 'conflict-body',
    by: CANCELLATIONS,
    any: true,
    values: (check) =>
      check
        .all(...CANCELLATIONS)
        .filter(status(409))
        .map(conflictBody),
    nothing: 'no 409 was seen; --shipped ID names an order for it',
  }),
  cancelCancelled: cancel('a cancelled order', {
    each: 'cancelled',
    settles: 'cancel-again',
    by: ['cancelAgain', 'cancelCancelled'],
    any: true,
    values: listSecondCancellations,
    nothing: 'the order is not listed, so it may not exist',
  }),
} as const satisfies QuestionTable;

function hasDuePending(check: CheckTranscript): boolean {
  return check
    .records('orders')
    .some((order) => order.status === 'pending' && check.isDue(readId(order)));
}

function listsCancelled(check: CheckTranscript): boolean {
  return check.records('orders').some((order) => order.status === 'cancelled');
}

function isListed(check: CheckTranscript, name: 'orders' | 'ordersAfter'): boolean {
  return check.cancelled.some((id) => findById(check.records(name), id) !== undefined);
}

/** Without orders that are not listed: they may never have existed. */
function listSecondCancellations(check: CheckTranscript): string[] {
  return check
    .all('cancelAgain', 'cancelCancelled')
    .filter(({ status, order }) => status !== 404 || !order || check.order(order))
    .map(({ status }) => `${status}`);
}

/** What became of pending orders past their ship date. */
function listShippings(check: CheckTranscript): string[] {
  const due = check.all('cancel').filter(({ order }) => check.isDue(order));
  if (hasDuePending(check) || due.some(accepted)) return ['accepted'];
  return due.filter((reply) => !isAsCancelled(reply, check)).map(({ status }) => `${status}`);
}

function isAsCancelled(reply: ProbeReply, check: CheckTranscript): boolean {
  return check
    .all('cancelAgain', 'cancelCancelled')
    .some(({ status, code }) => !reply.accepted && status === reply.status && code === reply.code);
}

function conflictBody(conflict: ProbeReply): string {
  const { json, body } = conflict;
  if (body.length === 0) return 'empty';
  const type = conflict.header('content-type')?.toLowerCase() ?? 'no Content-Type';
  if (type.startsWith('application/problem+json')) return 'problem';
  const isError = type.startsWith('application/json') && isObject(json) && 'code' in json;
  return isError ? 'error' : type;
}
