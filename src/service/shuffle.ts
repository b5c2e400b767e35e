import type { Animal } from '../contract/records.ts';
import type { Collection } from '../store/collection.ts';
import { drawForId } from '../store/draw.ts';

/** The shuffled ids of each collection, cached until a record changes. */
const shuffles = new WeakMap<
  Collection<Animal>,
  { readonly seed: number; readonly version: number; readonly ids: readonly bigint[] }
>();

const SHUFFLE_FIELD = 0x5f;

/** The animals after the one with the id `after`, in an order that only the seed determines. */
export function* shuffled(
  animals: Collection<Animal>,
  seed: number,
  after?: bigint,
  includes: (animal: Animal) => boolean = () => true,
): Generator<Animal> {
  const ids = shuffledIds(animals, seed);
  for (let position = after === undefined ? 0 : ids.indexOf(after) + 1; ; position += 1) {
    const id = ids[position];
    if (id === undefined) return;
    const animal = animals.get(id);
    if (animal !== undefined && includes(animal)) yield animal;
  }
}

/** Sorts by a number drawn for each id, so that a new animal does not move others. */
function shuffledIds(animals: Collection<Animal>, seed: number): readonly bigint[] {
  const kept = shuffles.get(animals);
  if (kept !== undefined && kept.seed === seed && kept.version === animals.version) {
    return kept.ids;
  }
  const drawn: { readonly id: bigint; readonly rank: number }[] = [];
  for (const { id } of animals.ascending()) {
    drawn.push({ id, rank: drawForId(seed, id, SHUFFLE_FIELD) });
  }
  drawn.sort((a, b) => a.rank - b.rank || (a.id < b.id ? -1 : 1));
  const ids = drawn.map(({ id }) => id);
  shuffles.set(animals, { seed, version: animals.version, ids });
  return ids;
}
