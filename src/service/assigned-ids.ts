import { INT64_MAX } from '../contract/int64.ts';
import { drawForId } from '../store/draw.ts';
import type { Grounds } from './reply.ts';
import type { World } from './world.ts';

/** Above it, a double cannot hold every integer. */
const BEYOND_DOUBLES = 2n ** 53n;

/** The field number under which ids are drawn. */
const ID_FIELD = 0x1d;

/**
 * The id of the next animal, as `assigned-ids` says, or undefined where that is one above the
 * highest ever used and no int64 is.
 */
export function nextId(world: World, grounds: Grounds): bigint | undefined {
  const { animals } = world.store;
  const next = (animals.highestId ?? 0n) + 1n;
  const exhausted = next > INT64_MAX;
  // Only here do the options answer with different statuses.
  if (exhausted) grounds.decidedBy('assigned-ids');
  if (world.choices['assigned-ids'] === 'next') return exhausted ? undefined : next;
  for (let count = BigInt(animals.size); ; count += 1n) {
    const high = BigInt(drawForId(world.seed, count, ID_FIELD) >>> 2);
    const low = BigInt(drawForId(world.seed, count, ID_FIELD + 1));
    // Odd, so that a client which keeps it in a double changes it.
    const id = BEYOND_DOUBLES + (((high << 32n) | low) >> 1n) * 2n + 1n;
    if (!animals.has(id)) return id;
  }
}
