import { OPERATIONS } from '../contract/operations.ts';
import type { Animal } from '../contract/records.ts';
import { parseInt64 } from '../json.ts';
import { DEFAULTS } from '../limits.ts';
import { randomForId } from '../store/random.ts';
import type { ListText, Records } from '../store/store.ts';
import { writeList } from '../store/store-text.ts';
import type { Call, InputReader } from './input.ts';
import type { ServiceState } from './operation.ts';
import { type AssumptionTrace, jsonReply, NO_HEADERS, type Reply } from './reply.ts';

export type AnimalFilter = (animal: Animal) => boolean;

export interface PetsQuery {
  readonly limit: number;
  readonly filters: readonly AnimalFilter[];
  /** The id of the last animal on the previous page, which a cursor encodes. */
  readonly after: bigint | undefined;
  readonly offset: number;
}

export function petsPageReply(
  decidedBy: AssumptionTrace,
  state: ServiceState,
  page: PetsQuery,
  call: Call,
): Reply {
  const { choices, options, store } = state;
  const { seed = DEFAULTS.seed } = options;
  // The key has the whole query, so that none of its parameters can be forgotten.
  const key = call.query.length === 0 ? `${seed}` : `${seed} ${JSON.stringify(call.query)}`;
  const { text, next, total } = store.animals.list(choices, key, () => writePage(state, page));
  const headers = total === undefined ? linkTo(next, page, call) : ['X-Total-Count', String(total)];
  return jsonReply(decidedBy, 200, text, headers);
}

function linkTo(next: bigint | undefined, page: PetsQuery, call: Call): readonly string[] {
  if (next === undefined) return NO_HEADERS;
  const query = new URLSearchParams({ limit: String(page.limit) });
  for (const { name } of OPERATIONS.listPets.parameters) {
    const [, value] = call.query.find(([given]) => given === name) ?? [];
    if (name !== 'limit' && value !== undefined) query.set(name, value);
  }
  query.set('cursor', btoa(next.toString()).replace(/=+$/, ''));
  return ['Link', `<${call.path}?${query}>; rel="next"`];
}

function writePage(state: ServiceState, page: PetsQuery): ListText {
  const { filters, after, offset, limit } = page;
  const animals: Animal[] = [];
  let position = 0;
  let isLast = true;
  for (const animal of inOrder(state, after)) {
    if (!matchesAll(filters, animal)) continue;
    position += 1;
    if (position <= offset) continue;
    isLast = animals.length < limit;
    if (!isLast) break;
    animals.push(animal);
  }
  const paging = state.choices['pets-paging'];
  return {
    ...writeList(animals, state.represent.animal),
    next: paging === 'cursor' && !isLast ? animals.at(-1)?.id : undefined,
    total: paging === 'offset' ? countMatches(state, page) : undefined,
  };
}

/** The id after which the page begins. That animal may have been removed. */
export function readCursor(reader: InputReader, cursor: string): bigint | undefined {
  const id = parseInt64(decodeCursor(cursor));
  if (id === undefined) {
    reader.problem('cursor is malformed: use the one in the Link header of the previous page');
  }
  return id;
}

function decodeCursor(cursor: string): string {
  try {
    return atob(cursor);
  } catch {
    return '';
  }
}

function matchesAll(filters: PetsQuery['filters'], animal: Animal): boolean {
  return filters.every((filter) => filter(animal));
}

function inOrder(
  { store: { animals }, choices, options }: ServiceState,
  after?: bigint,
): Iterable<Animal> {
  switch (choices['pets-order']) {
    case 'id':
      return animals.ascending(after);
    case 'newest':
      return animals.descending(after);
    case 'shuffled':
      return shuffle(animals, options.seed ?? DEFAULTS.seed, after);
  }
}

function countMatches({ store: { animals } }: ServiceState, { filters }: PetsQuery): number {
  if (filters.length === 0) return animals.size;
  let count = 0;
  for (const animal of animals.ascending()) if (matchesAll(filters, animal)) count += 1;
  return count;
}

/** Sorts by a random number for each id, so that a new animal does not move the others. */
function shuffle(records: Records<Animal>, seed: number, after?: bigint): readonly Animal[] {
  const rankOf = (id: bigint): Rank => ({ id, rank: randomForId(seed, id, 'shuffledRank') });
  const start = after === undefined ? undefined : rankOf(after);
  return Array.from(records.ascending(), (animal) => ({ animal, ...rankOf(animal.id) }))
    .filter((ranked) => start === undefined || compareRanks(ranked, start) > 0)
    .sort(compareRanks)
    .map(({ animal }) => animal);
}

interface Rank {
  readonly id: bigint;
  readonly rank: number;
}

function compareRanks(a: Rank, b: Rank): number {
  return a.rank - b.rank || (a.id < b.id ? -1 : Number(a.id > b.id));
}
