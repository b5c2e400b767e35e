import {
  FIELD_TYPES,
  type Order,
  type OrderStatus,
  type RECORDS,
  type RecordOf,
} from '../../contract/records.ts';
import { counted, describe, listed } from '../../words.ts';
import type { ShownRecord } from './read-records.ts';

type ShownOrder = ShownRecord<RecordOf<typeof RECORDS.Order>>;

export interface RecordedOrders {
  readonly orders: readonly Order[];
  readonly gaps: readonly string[];
}

/** Makes stored orders of those that a deployment shows: with a status, and only with an id. */
export function recordOrders(
  shown: readonly ShownOrder[],
  unknownStatus: OrderStatus,
): RecordedOrders {
  const orders: Order[] = [];
  /** What orders of unknown status show in its place. */
  const unknown: unknown[] = [];
  for (const { record, members } of shown) {
    const { id, ...rest } = record;
    if (id === undefined) continue;
    const status = statusIn(members);
    if (status === undefined) unknown.push(members.status);
    orders.push({ id, ...rest, status: status ?? unknownStatus });
  }
  const gaps: string[] = [];
  const withoutId = shown.length - orders.length;
  if (withoutId > 0) gaps.push(`orders: ${counted(withoutId, 'order')} without an id left out`);
  if (unknown.length > 0) {
    const count = `${counted(unknown.length, 'order')} of ${orders.length}`;
    const instead = listed([...new Set(unknown)].map(describe), 'or');
    gaps.push(
      `orders: ${count} recorded as ${unknownStatus} (--unknown-status); the status shown is ${instead}`,
    );
  }
  if (orders.every(({ status }) => status !== 'cancelled')) {
    gaps.push(
      'orders: none shows that it was cancelled; the deployment may leave cancelled orders out',
    );
  }
  return { orders, gaps };
}

/** The status that an order shows. One that was fulfilled has shipped. */
function statusIn(members: Readonly<Record<string, unknown>>): OrderStatus | undefined {
  const { status, complete } = members;
  return FIELD_TYPES.orderStatus.read(status) ?? (complete === true ? 'shipped' : undefined);
}
