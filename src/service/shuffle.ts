import type { Animal } from '../contract/records.ts';
import { drawForId } from '../store/draw.ts';
import type { Records } from '../store/sorted-records.ts';

/** The animals of a state in the order of one seed: each state is mostly asked for by one sandbox. */
const shuffles = new WeakMap<
  Records<Animal>,
  { readonly seed: number; readonly animals: readonly Animal[] }
>();

const SHUFFLE_FIELD = 0x5f;

/** The animals after the one with the id `after`, in an order that only the seed determines. */
export function* shuffled(
  records: Records<Animal>,
  seed: number,
  after?: bigint,
): Generator<Animal> {
  let shuffle = shuffles.get(records);
  if (shuffle?.seed !== seed) {
    shuffle = { seed, animals: inDrawnOrder(records, seed) };
    shuffles.set(records, shuffle);
  }
  const { animals } = shuffle;
  const start = after === undefined ? 0 : animals.findIndex(({ id }) => id === after) + 1;
  for (let position = start; position < animals.length; position += 1) {
    const animal = animals[position];
    if (animal !== undefined) yield animal;
  }
}

/** Sorts by a number drawn for each id, so that a new animal does not move others. */
function inDrawnOrder(records: Records<Animal>, seed: number): readonly Animal[] {
  const drawn: { readonly animal: Animal; readonly rank: number }[] = [];
  for (const animal of records.ascending()) {
    drawn.push({ animal, rank: drawForId(seed, animal.id, SHUFFLE_FIELD) });
  }
  drawn.sort((a, b) => a.rank - b.rank || (a.animal.id < b.animal.id ? -1 : 1));
  return drawn.map(({ animal }) => animal);
}
