import {
  INTEGER,
  ORDER_STATUSES,
  type Order,
  type OrderStatus,
  RECORDS,
  TEXT,
} from '../../../core/contract/records.ts';
import { toInt64 } from '../../../core/json.ts';
import { FLAG, readAs, type Shape } from '../../../core/shape/shapes.ts';
import { createStore } from '../../../core/store/store.ts';
import { prepareMock } from '../ask-mock.ts';
import { findById, type ReplyRecord, readId, readIds } from '../deployment-reply.ts';
import type { Lists } from './facets.ts';
import type { World } from './predict.ts';
import { type CheckOptions, SENT_ID } from './probes.ts';

/** Orders of which a mock knows besides those that flags name: more would show nothing else. */
const MAX_ORDERS = 100;

/** A mock with the records that a deployment lists, as far as it can have and needs them. */
export function createWorld(lists: Lists, options: CheckOptions, now: number): World {
  const { cancel = [], shipped = [], cancelled = [], stock } = options;
  const animals = lists.animals.flatMap((animal) => {
    const [id, status] = [readId(animal), read(TEXT, animal.status)];
    if (id === undefined) return [];
    const fields = { id, name: String(animal.name), categoryId: toInt64(animal.categoryId) ?? 0n };
    return { ...fields, ...(status !== undefined && { status }) };
  });
  const ids = new Set(animals.map(({ id }) => id));
  // More animals than a page has are not listed.
  if (stock !== undefined && !ids.has(stock)) animals.push({ id: stock, name: '', categoryId: 0n });
  const named = new Set([...cancel, ...shipped, ...cancelled]);
  const kept = lists.orders.filter(
    (order, at) => at < MAX_ORDERS || named.has(readId(order) ?? 0n),
  );
  const stocked = new Set([...animals.map(({ id }) => id), ...readIds(kept, 'petId')]);
  const inventory = lists.inventory.flatMap((entry) => {
    const petId = readId(entry, 'petId');
    if (petId !== undefined && !stocked.has(petId)) return [];
    const quantity = read(INTEGER, entry.quantity) ?? 0;
    return petId === undefined ? [] : { petId, quantity, status: String(entry.status) };
  });
  const orders = kept.flatMap((order) => {
    const id = readId(order);
    if (id === undefined) return [];
    const status = shipped.includes(id)
      ? 'shipped'
      : cancelled.includes(id)
        ? 'cancelled'
        : 'pending';
    return readOrder(id, order, status);
  });
  const store = createStore({ animals, inventory, orders });
  const used = [...ids, ...readIds(lists.inventory, 'petId'), ...readIds(lists.orders, 'petId')];
  const highest = used.reduce<bigint | undefined>(
    (most, id) => (most === undefined || id > most ? id : most),
    undefined,
  );
  const orderIds = [...readIds(lists.orders), ...cancel, ...shipped, ...cancelled];
  const words = new Map([['UNKNOWN', `${unusedId([...used, ...orderIds])}`]]);
  const listed = readIds(lists.animals);
  // Rather one that a double cannot hold.
  const pet = listed.find((id) => !Number.isSafeInteger(Number(id))) ?? listed[0];
  if (pet !== undefined) words.set('LISTED', `${pet}`);
  if (stock !== undefined) words.set('STOCK', `${stock}`);
  const whole = { ...store, animals: store.animals.withHighestId(highest) };
  return { lists, store: whole, words, open: prepareMock(whole, now) };
}

/** The same world for a story about one order. */
export function aboutOrder(world: World, word: string, id: bigint): World {
  const petId = readId(findById(world.lists.orders, id), 'petId');
  const words = new Map([...world.words, [word, `${id}`]]);
  if (petId !== undefined) words.set('PET', `${petId}`);
  return { ...world, words };
}

/** @param named what the flags say, where the order shows no status */
function readOrder(id: bigint, order: ReplyRecord, named: OrderStatus): Order {
  const petId = readId(order, 'petId');
  const quantity = read(INTEGER, order.quantity);
  const shipDate = read(RECORDS.Order.members.shipDate.shape, order.shipDate);
  const complete = read(FLAG, order.complete);
  const shown = ORDER_STATUSES.find((status) => status === order.status);
  const status = shown ?? (complete === true ? 'shipped' : named);
  return {
    id,
    status,
    ...(petId !== undefined && { petId }),
    ...(quantity !== undefined && { quantity }),
    ...(shipDate !== undefined && { shipDate }),
    ...(complete !== undefined && { complete }),
  };
}

function read<T>(shape: Shape<T>, value: unknown): T | undefined {
  const reading = readAs(shape, value);
  return reading.ok ? reading.value : undefined;
}

function unusedId(used: readonly bigint[]): bigint {
  const known = new Set(used);
  let id = SENT_ID + 1n;
  while (known.has(id)) id += 1n;
  return id;
}
