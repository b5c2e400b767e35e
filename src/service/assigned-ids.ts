import { INT64_MAX } from '../contract/int64.ts';
import { drawForId } from '../store/draw.ts';
import type { World } from './world.ts';

/** Above it, a double cannot hold every integer. */
const BEYOND_DOUBLES = 2n ** 53n;

/** The field number under which ids are drawn. */
const ID_FIELD = 0x1d;

/**
 * The id of the next animal, as `assigned-ids` says, or undefined where no int64 is left above the
 * highest one ever used.
 */
export function nextId(world: World): bigint | undefined {
  const { animals } = world.store;
  if (world.choices['assigned-ids'] === 'next') {
    const next = (animals.highestId ?? 0n) + 1n;
    return next > INT64_MAX ? undefined : next;
  }
  for (let count = BigInt(animals.size); ; count += 1n) {
    const high = BigInt(drawForId(world.seed, count, ID_FIELD) >>> 2);
    const low = BigInt(drawForId(world.seed, count, ID_FIELD + 1));
    // Odd, so that a client which keeps it in a double changes it.
    const id = BEYOND_DOUBLES + (((high << 32n) | low) >> 1n) * 2n + 1n;
    if (!animals.has(id)) return id;
  }
}
