import {
  FIELD_TYPES,
  type Order,
  type OrderStatus,
  type RECORDS,
  type RecordOf,
} from '../../contract/records.ts';
import { counted, describe, listed } from '../../words.ts';
import type { RecordWithMembers } from './read-records.ts';

type OrderWithMembers = RecordWithMembers<RecordOf<typeof RECORDS.Order>>;

export interface OrderRecording {
  readonly orders: readonly Order[];
  readonly gaps: readonly string[];
}

/** Turns the orders that a deployment shows into stored orders: each needs an id and gets a status. */
export function recordOrders(
  shown: readonly OrderWithMembers[],
  unknownStatus: OrderStatus,
): OrderRecording {
  const orders: Order[] = [];
  /** What orders of unknown status have in that field. */
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
    const instead = listed([...new Set(unknown)].map(describe), 'or');
    gaps.push(
      `orders: ${unknown.length} of ${orders.length} have an unknown status (found ${instead}); recorded as ${unknownStatus} (--unknown-status)`,
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
