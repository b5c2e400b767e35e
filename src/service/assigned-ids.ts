import { INT64_MAX } from '../contract/int64.ts';
import { drawForId } from '../store/draw.ts';
import type { Grounds } from './reply.ts';
import type { World } from './world.ts';

/** A double cannot represent every integer above this one. */
const BEYOND_DOUBLES = 2n ** 53n;

/** The field number for `drawForId`. */
const ID_FIELD = 0x1d;

/** The id of the next animal. Undefined if `assigned-ids` is `next` and no int64 is left. */
export function nextId(world: World, grounds: Grounds): bigint | undefined {
  const { animals } = world.store;
  const next = (animals.highestId ?? 0n) + 1n;
  const exhausted = next > INT64_MAX;
  // Only then do the options lead to different statuses.
  if (exhausted) grounds.decidedBy('assigned-ids');
  if (world.choices['assigned-ids'] === 'next') return exhausted ? undefined : next;
  for (let count = BigInt(animals.size); ; count += 1n) {
    const high = BigInt(drawForId(world.seed, count, ID_FIELD) >>> 2);
    const low = BigInt(drawForId(world.seed, count, ID_FIELD + 1));
    // Odd, so that a double cannot hold it.
    const id = BEYOND_DOUBLES + (((high << 32n) | low) >> 1n) * 2n + 1n;
    if (!animals.has(id)) return id;
  }
}
