import type { Order } from '../contract/records.ts';
import { inTurns, type Work } from '../work.ts';
import type { Base } from './base.ts';
import { baseIndex } from './base-index.ts';
import type { Collection } from './collection.ts';

/** Positions of orders in chains, one for each bucket of animal ids: 8 to 12 bytes an order. */
interface BaseIndex {
  /** The last position of each chain, or -1. */
  readonly last: Int32Array;
  /** The position before each one in its chain, or -1. */
  readonly before: Int32Array;
}

const indexing = baseIndex((base: Base<Order>) => {
  const buckets = 2 ** Math.ceil(Math.log2(base.size + 1));
  const last = new Int32Array(buckets).fill(-1);
  const before = new Int32Array(base.size).fill(-1);
  const petIdAt = base.petIdAt ?? ((position: number) => base.at(position).petId);
  const add = (position: number): void => {
    const petId = petIdAt(position);
    if (petId === undefined) return;
    const bucket = bucketOf(petId, buckets);
    before[position] = last[bucket] ?? -1;
    last[bucket] = position;
  };
  return { index: { last, before }, add };
});

/**
 * The ids of the orders for some animals. The first call builds the index of the base. Otherwise the
 * cost grows with the number of these animals and of the orders that differ from the base.
 */
export function* findingOrders(
  orders: Collection<Order>,
  petIds: ReadonlySet<bigint>,
): Work<ReadonlySet<bigint>> {
  const found = new Set<bigint>();
  const { base } = orders;
  if (petIds.size === 0) return found;
  const index = yield* indexing(base);
  for (const petId of petIds) {
    for (const position of chainOf(index, petId)) {
      const order = orders.get(base.idAt(position));
      if (order?.petId === petId) found.add(order.id);
    }
    yield;
  }
  for (const { id, petId } of orders.changed()) {
    if (petId !== undefined && petIds.has(petId)) found.add(id);
    yield;
  }
  return found;
}

/** Builds the index of a base in turns with requests. */
export async function indexByAnimal(base: Base<Order>): Promise<void> {
  await inTurns(indexing(base));
}

function* chainOf({ last, before }: BaseIndex, petId: bigint): Generator<number> {
  let position = last[bucketOf(petId, last.length)] ?? -1;
  while (position >= 0) {
    yield position;
    position = before[position] ?? -1;
  }
}

/** Ids mostly count up, so their low bits distribute them evenly. `buckets` is a power of two. */
function bucketOf(petId: bigint, buckets: number): number {
  return Number(BigInt.asUintN(32, petId)) & (buckets - 1);
}
