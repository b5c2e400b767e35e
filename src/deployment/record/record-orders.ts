import {
  FIELD_TYPES,
  type Order,
  type OrderStatus,
  type RECORDS,
  type RecordOf,
} from '../../contract/records.ts';
import { counted } from '../../words.ts';
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
  let unknown = 0;
  for (const {
    record: { id, ...rest },
    members,
  } of shown) {
    if (id === undefined) continue;
    const status = statusIn(members);
    if (status === undefined) unknown += 1;
    orders.push({ id, ...rest, status: status ?? unknownStatus });
  }
  const gaps: string[] = [];
  const withoutId = shown.length - orders.length;
  if (withoutId > 0) gaps.push(`orders: ${counted(withoutId, 'order')} without an id left out`);
  if (unknown > 0) {
    gaps.push(
      `orders: ${counted(unknown, 'order')} of ${orders.length} recorded as ${unknownStatus} (--unknown-status), since nothing shows the status`,
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
function statusIn({
  status,
  complete,
}: Readonly<Record<string, unknown>>): OrderStatus | undefined {
  return FIELD_TYPES.orderStatus.read(status) ?? (complete === true ? 'shipped' : undefined);
}
