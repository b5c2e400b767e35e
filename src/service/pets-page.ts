import type { Choices } from '../contract/assumption-table.ts';
import { parseInt64 } from '../contract/int64.ts';
import type { Animal } from '../contract/records.ts';
import type { Collection } from '../store/collection.ts';
import { drawForId } from '../store/draw.ts';
import type { Call, InputReader } from './input.ts';
import { representationFor } from './representation.ts';
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

/** A page as it is sent, and what leads to the next one. */
interface WrittenPage {
  /** The JSON array. */
  readonly text: Buffer;
  /** With `pets-paging: cursor`, the last animal's id where there are more behind it. */
  readonly next: bigint | undefined;
  /** With `pets-paging: offset`, how many animals match. */
  readonly total: number | undefined;
}

/** Pages kept at most: a client can ask for any status. */
const MOST_PAGES = 256;

/** Bytes of them, and of one: a client can give its animals names of any length. */
const MOST_BYTES = 4 * 1024 ** 2;
const LARGEST_PAGE = 64 * 1024;

/** Keeps pages as they were written, for worlds that write the same records alike. */
export class PageCache {
  /** The pages of most requests, which say no more than how long they are, by length. */
  #plain = new Pages<number>();
  #plainVersion = 0;
  readonly #others = new Pages<string>();

  /** A page of the records of a version, made where it is not known. */
  get(version: number, page: PetsPage, make: () => WrittenPage): WrittenPage {
    const { limit, offset, after, empty, status } = page;
    if (status === undefined && after === undefined && offset === 0) {
      if (version !== this.#plainVersion) {
        this.#plain = new Pages();
        this.#plainVersion = version;
      }
      return this.#plain.get(limit, make);
    }
    const key = `${version} ${limit} ${offset} ${after ?? ''} ${empty} ${status ?? ''}`;
    return this.#others.get(key, make);
  }
}

/** Some pages by what they were asked for with. Where they become too many, all are forgotten. */
class Pages<K extends number | string> {
  readonly #pages = new Map<K, WrittenPage>();
  #bytes = 0;

  get(key: K, make: () => WrittenPage): WrittenPage {
    let page = this.#pages.get(key);
    if (page === undefined) {
      page = make();
      this.#keep(key, page);
    }
    return page;
  }

  #keep(key: K, page: WrittenPage): void {
    const bytes = page.text.length + (typeof key === 'string' ? 2 * key.length : 0);
    if (bytes > LARGEST_PAGE) return;
    if (this.#pages.size >= MOST_PAGES || this.#bytes + bytes > MOST_BYTES) {
      this.#pages.clear();
      this.#bytes = 0;
    }
    this.#pages.set(key, page);
    this.#bytes += bytes;
  }
}

/** The page caches of all worlds: one for each way of writing pages. */
export class PageCaches {
  readonly #caches = new Map<string, PageCache>();

  of(choices: Choices, seed: number): PageCache {
    const { key } = representationFor(choices);
    const shape = [key, choices['pets-order'], choices['pets-paging'], seed].join(' ');
    let cache = this.#caches.get(shape);
    if (cache === undefined) {
      cache = new PageCache();
      this.#caches.set(shape, cache);
    }
    return cache;
  }
}

const NO_HEADERS: readonly string[] = [];

/** The JSON of a page of animals, and the headers that lead to the next one. */
export function pageOfPets(
  world: World,
  page: PetsPage,
  call: Call,
): { text: Buffer; headers: readonly string[] } {
  const { limit, status } = page;
  const { version } = world.store.animals;
  const { text, next, total } = world.pages.get(version, page, () => writePage(world, page));
  if (total !== undefined) return { text, headers: ['X-Total-Count', String(total)] };
  if (next === undefined) return { text, headers: NO_HEADERS };
  const query = new URLSearchParams({ limit: String(limit) });
  if (status !== undefined) query.set('status', status);
  query.set('cursor', Buffer.from(next.toString()).toString('base64url'));
  return { text, headers: ['Link', `<${call.path}?${query}>; rel="next"`] };
}

function writePage(world: World, page: PetsPage): WrittenPage {
  const paging = world.choices['pets-paging'];
  const found = take(matching(world, page), page.offset, page.limit + 1);
  const animals = found.slice(0, page.limit);
  const more = found.length > page.limit;
  return {
    text: Buffer.from(`[${animals.map(world.represent.animal).join(',')}]`),
    next: paging === 'cursor' && more ? animals.at(-1)?.id : undefined,
    total: paging === 'offset' ? countMatches(world, page) : undefined,
  };
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

function countMatches(world: World, { status, empty }: PetsPage): number {
  const { animals } = world.store;
  if (empty) return 0;
  if (status === undefined) return animals.size;
  let count = 0;
  for (const animal of animals.ascending()) if (animal.status === status) count += 1;
  return count;
}

/** The ids of a collection in shuffled order, kept until one of its records changes. */
const shuffles = new WeakMap<
  Collection<Animal>,
  { readonly seed: number; readonly version: number; readonly ids: readonly bigint[] }
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
