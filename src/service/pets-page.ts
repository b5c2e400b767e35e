import { parseInt64 } from '../contract/int64.ts';
import type { Animal } from '../contract/records.ts';
import { withStatus } from '../store/animals-by-status.ts';
import { longAnimalsBody } from './animal-body.ts';
import type { Call, InputReader } from './input.ts';
import { Kept } from './kept.ts';
import { type Body, type Grounds, type Reply, reply } from './reply.ts';
import { REPRESENTATIONS } from './representation.ts';
import { shuffled } from './shuffle.ts';
import type { World } from './world.ts';
import { MOST_BYTES, type WrittenList, writtenList } from './written-list.ts';

/** The animals that a call of `GET /pets` asks for. */
export interface PetsPage {
  readonly limit: number;
  readonly status: string | undefined;
  /** Whether the filter matches nothing. */
  readonly empty: boolean;
  /** With `pets-paging: cursor`, the id of the last animal on the previous page. */
  readonly after: bigint | undefined;
  /** With `pets-paging: offset`, the number of animals to skip. */
  readonly offset: number;
}

/** A written page, and what the next page is found by. */
interface WrittenPage extends WrittenList {
  /** In place of the text, of animals that are too long for one. */
  readonly long: Body | undefined;
  /** With `pets-paging: cursor`, the id of the last animal if more follow. */
  readonly next: bigint | undefined;
  /** With `pets-paging: offset`, the number of matching animals. */
  readonly total: number | undefined;
}

const pages = new Kept<WrittenPage>(MOST_BYTES);

/** A reply with a page of animals, and the headers for the next page. */
export function petsPageReply(grounds: Grounds, world: World, page: PetsPage, call: Call): Reply {
  const key = keyOf(world, page);
  const written = pages.get(key) ?? pages.keep(key, writePage(world, page));
  const { long, text, records, next, total } = written;
  const headers = total === undefined ? linkTo(next, page, call) : ['X-Total-Count', String(total)];
  return reply(grounds, 200, long ?? { kind: 'json', text }, headers, records);
}

/** The cache key of a page: a number for the most frequent requests, which have only a limit. */
function keyOf({ store, represent, choices, seed }: World, page: PetsPage): number | string {
  const { limit, offset, after, empty, status } = page;
  const order = choices['pets-order'];
  const paging = choices['pets-paging'];
  const isPlain = status === undefined && order === 'id' && paging === 'none';
  const version = isPlain ? store.animals.versionOfFirst(limit) : store.animals.version;
  const state = version * REPRESENTATIONS + represent.number;
  if (isPlain) return state * PLAIN_LIMITS + limit;
  const shuffle = order === 'shuffled' ? seed : '';
  return `${state} ${limit} ${offset} ${after} ${empty} ${order}${shuffle} ${paging} ${status}`;
}

/** Greater than the largest limit. */
const PLAIN_LIMITS = 128;

function linkTo(next: bigint | undefined, page: PetsPage, { path }: Call): readonly string[] {
  if (next === undefined) return NO_HEADERS;
  const query = new URLSearchParams({ limit: String(page.limit) });
  if (page.status !== undefined) query.set('status', page.status);
  query.set('cursor', Buffer.from(next.toString()).toString('base64url'));
  return ['Link', `<${path}?${query}>; rel="next"`];
}

const NO_HEADERS: readonly string[] = [];

function writePage(world: World, page: PetsPage): WrittenPage {
  const paging = world.choices['pets-paging'];
  const found = take(matching(world, page), page.offset, page.limit + 1);
  const animals = found.slice(0, page.limit);
  const more = found.length > page.limit;
  const long = longAnimalsBody(world, animals);
  const texts = long === undefined ? animals.map(world.represent.animal) : [];
  return {
    ...writtenList(texts, [animals]),
    long,
    next: paging === 'cursor' && more ? animals.at(-1)?.id : undefined,
    total: paging === 'offset' ? countMatches(world, page) : undefined,
  };
}

/** Reads the id in a cursor. */
export function readCursor(reader: InputReader, world: World, cursor: string): bigint | undefined {
  const id = parseInt64(Buffer.from(cursor, 'base64url').toString());
  if (id === undefined || !world.store.animals.has(id)) {
    reader.problem('cursor: expected one from the Link header of the previous page');
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

function matching(world: World, { status, empty, after }: PetsPage): Iterable<Animal> {
  if (empty) return [];
  const { animals } = world.store;
  const subset = status === undefined ? undefined : withStatus(animals.base, status);
  switch (world.choices['pets-order']) {
    case 'id':
      return animals.ascending(after, subset);
    case 'newest':
      return animals.descending(after, subset);
    case 'shuffled':
      return shuffled(animals, world.seed, after, subset?.includes);
  }
}

function countMatches(world: World, { status, empty }: PetsPage): number {
  const { animals } = world.store;
  if (empty) return 0;
  if (status === undefined) return animals.size;
  let count = 0;
  for (const _animal of animals.ascending(undefined, withStatus(animals.base, status))) count += 1;
  return count;
}
