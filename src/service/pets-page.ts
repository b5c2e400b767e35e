import { parseInt64 } from '../contract/int64.ts';
import type { Animal } from '../contract/records.ts';
import type { Collection } from '../store/collection.ts';
import { drawForId } from '../store/draw.ts';
import type { Call, InputReader } from './input.ts';
import type { World } from './world.ts';

/** Which animals `GET /pets` asks for. */
export interface PetsPage {
  readonly limit: number;
  readonly status: string | undefined;
  /** Whether the filter can match nothing. */
  readonly empty: boolean;
  /** With `pets-paging: cursor`, the id of the last animal of the page before. */
  readonly after: bigint | undefined;
  /** With `pets-paging: offset`, how many animals to pass over. */
  readonly offset: number;
}

/** The animals of a page, and the headers that lead to the next one. */
export function pageOfPets(
  world: World,
  page: PetsPage,
  call: Call,
): { animals: Animal[]; headers: readonly string[] } {
  const paging = world.choices['pets-paging'];
  const matches = matching(world, page);
  if (paging === 'offset') {
    const total = page.empty ? 0 : countMatches(world, page.status);
    return {
      animals: take(matches, page.offset, page.limit),
      headers: ['X-Total-Count', String(total)],
    };
  }
  if (paging === 'none') return { animals: take(matches, 0, page.limit), headers: [] };
  const animals = take(matches, 0, page.limit + 1);
  const more = animals.length > page.limit;
  if (more) animals.pop();
  const last = animals.at(-1);
  if (!more || last === undefined) return { animals, headers: [] };
  const query = new URLSearchParams({ limit: String(page.limit) });
  if (page.status !== undefined) query.set('status', page.status);
  query.set('cursor', Buffer.from(last.id.toString()).toString('base64url'));
  return { animals, headers: ['Link', `<${call.path}?${query}>; rel="next"`] };
}

/** The id that a cursor stands for. */
export function readCursor(reader: InputReader, world: World, cursor: string): bigint | undefined {
  const id = parseInt64(Buffer.from(cursor, 'base64url').toString());
  if (id === undefined || !world.store.animals.has(id)) {
    reader.problem('cursor: expected one from the Link header of the page before');
    return undefined;
  }
  return id;
}

function take(animals: Iterable<Animal>, skip: number, count: number): Animal[] {
  const taken: Animal[] = [];
  let passed = 0;
  for (const animal of animals) {
    passed += 1;
    if (passed <= skip) continue;
    taken.push(animal);
    if (taken.length === count) break;
  }
  return taken;
}

function* matching(world: World, { status, empty, after }: PetsPage): Generator<Animal> {
  if (empty) return;
  for (const animal of inOrder(world, after)) {
    if (status === undefined || animal.status === status) yield animal;
  }
}

function inOrder(world: World, after: bigint | undefined): Iterable<Animal> {
  const { animals } = world.store;
  switch (world.choices['pets-order']) {
    case 'id':
      return animals.ascending(after);
    case 'newest':
      return animals.descending(after);
    case 'shuffled':
      return shuffled(animals, world.seed, after);
  }
}

function countMatches(world: World, status: string | undefined): number {
  const { animals } = world.store;
  if (status === undefined) return animals.size;
  let count = 0;
  for (const animal of animals.ascending()) if (animal.status === status) count += 1;
  return count;
}

/** The ids of a collection in shuffled order, kept until an id comes or goes. */
const shuffles = new WeakMap<
  Collection<Animal>,
  { readonly seed: number; readonly membership: number; readonly ids: readonly bigint[] }
>();

const SHUFFLE_FIELD = 0x5f;

function* shuffled(
  animals: Collection<Animal>,
  seed: number,
  after: bigint | undefined,
): Generator<Animal> {
  const ids = shuffledIds(animals, seed);
  for (let position = after === undefined ? 0 : ids.indexOf(after) + 1; ; position += 1) {
    const id = ids[position];
    if (id === undefined) return;
    const animal = animals.get(id);
    if (animal !== undefined) yield animal;
  }
}

/** Sorted by a number drawn for each id, so that a new animal moves no other one. */
function shuffledIds(animals: Collection<Animal>, seed: number): readonly bigint[] {
  const kept = shuffles.get(animals);
  if (kept !== undefined && kept.seed === seed && kept.membership === animals.membership) {
    return kept.ids;
  }
  const drawn: { readonly id: bigint; readonly rank: number }[] = [];
  for (const { id } of animals.ascending()) {
    drawn.push({ id, rank: drawForId(seed, id, SHUFFLE_FIELD) });
  }
  drawn.sort((a, b) => a.rank - b.rank || (a.id < b.id ? -1 : 1));
  const ids = drawn.map(({ id }) => id);
  shuffles.set(animals, { seed, membership: animals.membership, ids });
  return ids;
}
