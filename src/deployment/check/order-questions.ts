import { isObject } from '../../contract/records.ts';
import { idIn, idsOf, type JsonRecord, UNKNOWN_WORD, withId } from '../deployment-reply.ts';
import type { CheckTranscript, ProbeReply } from './check-transcript.ts';
import type { Need, QuestionTable } from './question.ts';
import {
  call,
  listInventory,
  listOrders,
  type More,
  NO_KEY,
  refused,
  status,
  uniqueIds,
  unless,
  unusedId,
} from './question-rows.ts';

const cancel = (why: string, more?: More) => call('cancelOrder', '', why, more);

const UNKNOWN_ORDER: Need = {
  description: 'an id that no order has',
  find: (check, { cancel = [], shipped = [], cancelled = [] }) =>
    unusedId([...idsOf(check.get('orders')?.records), ...cancel, ...shipped, ...cancelled]),
};

const CANCELLED_ORDER: Need = {
  description: 'an order that was cancelled',
  after: 'cancel',
  find: (check) => check.cancelled[0],
};

/** The requests that can meet a conflict. */
const CANCELLATIONS = ['cancelShipped', 'cancelAgain', 'cancelCancelled', 'cancel'] as const;

/** What a check asks about orders. */
export const ORDER_QUESTIONS = {
  orders: listOrders('', 'the orders', {
    status: 200,
    rules: [uniqueIds('id')],
    settles: 'order-status-field',
    from: ['orders'],
    obstacle: (check) =>
      idsOf(orders(check)).length === 0 && 'GET /store/orders lists no order with an id',
    values: (check) => [typeof orders(check).find((it) => it.status !== undefined)?.status],
    options: { hidden: /^undefined$/, shown: /^string$/ },
  }),
  unknownQuery: listOrders(`?${UNKNOWN_WORD}=1`, 'an unknown query parameter', {
    settles: 'unknown-query',
    options: { ignore: status(200), reject: refused },
  }),
  ordersPage: listOrders('?limit=1', 'that orders have no pages', {
    rules: [
      ({ records }, check) => {
        const count = check.get('orders')?.records?.length ?? records?.length;
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
      405: (it) => it.status === 405 && it.header('allow') !== undefined,
      404: status(404),
    },
  },
  ordersNoKey: listOrders('', 'a missing key', NO_KEY),
  cancel: cancel('a pending order', {
    each: 'cancel',
    status: 204,
    excuse: ({ status, order }, check) =>
      status === 404 || (status === 409 && (!check.get('orders')?.records || check.isDue(order))),
    settles: 'order-shipping',
    from: ['orders'],
    also: ['cancel'],
    values: (check) => [
      ...(hasDuePending(check) ? ['accepted'] : []),
      ...check
        .all('cancel')
        .filter(({ order }) => check.isDue(order))
        .map((it) => (it.accepted ? 'accepted' : String(it.status))),
    ],
    nothing: 'no pending order is past its shipDate',
    options: { manual: /^accepted$/, 'at-ship-date': /^409$/ },
  }),
  ordersCancelled: listOrders('', 'whether cancelled orders are listed', {
    needs: CANCELLED_ORDER,
    status: 200,
    isShown: (check) =>
      check.cancelled.every((id) => {
        const after = withId(check.get('ordersCancelled')?.records, id);
        return after === undefined || after.status !== check.order(id)?.status;
      }),
    settles: 'cancelled-orders',
    from: ['orders'],
    also: ['ordersCancelled', 'cancel'],
    obstacle: (check) => {
      if (listsCancelled(check)) return undefined;
      if (!isListed(check, 'orders')) return 'no order that was cancelled was listed before';
      return !check.get('ordersCancelled')?.records && check.whyUnknown('ordersCancelled');
    },
    values: (check) => [
      listsCancelled(check) || isListed(check, 'ordersCancelled') ? 'listed' : 'removed',
    ],
  }),
  inventoryCancelled: listInventory('whether cancelling restocks', {
    needs: CANCELLED_ORDER,
    status: 200,
    isShown: (check) => restocks(check).every(({ ordered, added }) => ordered === added),
    settles: 'cancel-restocks',
    from: ['orders', 'inventoryCancelled'],
    by: ['cancel'],
    values: (check) =>
      restocks(check).map(({ ordered, added }) => `${ordered} ordered, ${added} back`),
    nothing: 'no order was cancelled that has a petId, a quantity and an inventory entry',
    options: { no: /, 0 back$/, yes: /^(\d+) ordered, \1 back$/ },
  }),
  cancelAgain: cancel('an order that was cancelled just now', { needs: CANCELLED_ORDER }),
  cancelUnknown: cancel('an order that does not exist', { needs: UNKNOWN_ORDER, status: 404 }),
  cancelNoKey: cancel('a missing key', { needs: UNKNOWN_ORDER, ...NO_KEY }),
  cancelShipped: cancel('a shipped order', {
    each: 'shipped',
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
  }),
} as const satisfies QuestionTable;

function orders(check: CheckTranscript): readonly JsonRecord[] {
  return check.get('orders')?.records ?? [];
}

/** Whether an order is listed as pending though its ship date has passed. */
function hasDuePending(check: CheckTranscript): boolean {
  return orders(check).some((it) => it.status === 'pending' && check.isDue(idIn(it)));
}

function listsCancelled(check: CheckTranscript): boolean {
  return orders(check).some((order) => order.status === 'cancelled');
}

/** Whether a list has an order that the check has cancelled. */
function isListed(check: CheckTranscript, name: 'orders' | 'ordersCancelled'): boolean {
  return check.cancelled.some((id) => withId(check.get(name)?.records, id) !== undefined);
}

/** What cancelling orders did to the stock of their animals, where it can be seen. */
function restocks(check: CheckTranscript): { readonly ordered: number; readonly added: number }[] {
  const lists = [
    check.get('inventoryCreated') ?? check.get('inventory'),
    check.get('inventoryCancelled'),
  ];
  const cancelled = check.cancelled.map((id) => check.order(id));
  return cancelled.flatMap((order) => {
    const petId = idIn(order, 'petId');
    const same = cancelled.filter((it) => idIn(it, 'petId') === petId);
    const ordered = same.reduce(
      (sum, it) => sum + (typeof it?.quantity === 'number' ? it.quantity : 0),
      0,
    );
    const [before, after] = lists.map((list) => withId(list?.records, petId, 'petId')?.quantity);
    if (typeof before !== 'number' || typeof after !== 'number' || ordered === 0) return [];
    return [{ ordered, added: after - before }];
  });
}

/** The form of a conflict's body, or what it is instead. */
function conflictBody(conflict: ProbeReply): string {
  const { json, body } = conflict;
  if (body.length === 0) return 'empty';
  const type = conflict.header('content-type')?.toLowerCase() ?? 'no Content-Type';
  if (type.startsWith('application/problem+json')) return 'problem';
  const isError = type.startsWith('application/json') && isObject(json) && 'code' in json;
  return isError ? 'error' : type;
}
