import type { CheckTranscript, Fact } from './check-transcript.ts';
import { SENT_ID } from './check-values.ts';
import { nextQuery } from './next-query.ts';
import { idIn, idsOf, withId } from './record-ids.ts';

export const LISTED_PET: Fact = {
  description: 'an animal in the list',
  after: 'pets100',
  find: (check) => idIn(check.list('pets100')?.[0])?.toString(),
};

export const LARGE_PET: Fact = {
  description: 'an animal in the list with an id beyond 2^53',
  after: 'pets100',
  find: (check) => idsOf(check.list('pets100')).find(isLarge)?.toString(),
};

const LARGEST_DOUBLE = BigInt(Number.MAX_SAFE_INTEGER);

function isLarge(id: bigint): boolean {
  return id > LARGEST_DOUBLE || id < -LARGEST_DOUBLE;
}

export const UNLISTED_PET: Fact = {
  description: 'an animal in the inventory that a short list leaves out',
  after: 'pets100',
  find: (check) => {
    const pets = check.list('pets100');
    if (pets === undefined || pets.length >= 100) return undefined;
    const stocked = idsOf(check.list('inventory'), 'petId');
    return stocked.find((id) => withId(pets, id) === undefined)?.toString();
  },
};

export const UNKNOWN_PET: Fact = {
  description: 'an id that no animal has',
  find: (check) =>
    unusedId([...idsOf(check.list('pets100')), ...idsOf(check.list('inventory'), 'petId')]),
};

export const UNKNOWN_ORDER: Fact = {
  description: 'an id that no order has',
  find: (check, { cancel, shipped, cancelled }) =>
    unusedId([...idsOf(check.list('orders')), ...cancel, ...shipped, ...cancelled]),
};

function unusedId(used: readonly bigint[]): string {
  let id = SENT_ID + 1n;
  while (used.includes(id)) id += 1n;
  return id.toString();
}

export const NEXT_PAGE: Fact = {
  description: 'a link or offset to a next page',
  find: (check) => {
    const first = check.get('pets1');
    const query = first && nextQuery(first.reply);
    if (query !== undefined) return `/pets${query}`;
    return first?.header('x-total-count') && '/pets?limit=1&offset=1';
  },
};

export const CREATED_PET: Fact = {
  description: 'a created animal',
  after: 'create',
  find: (check) => check.id('create')?.toString(),
};

/** The created animal whose stock the check changes. */
export const STOCKED_PET: Fact = {
  description: 'a created animal',
  after: 'createPending',
  find: (check) => check.id('createPending')?.toString(),
};

export const CANCELLED_ORDER: Fact = {
  description: 'an order that was cancelled',
  after: 'cancel',
  find: (check) =>
    check
      .all('cancel')
      .find((it) => it.accepted)
      ?.order?.toString(),
};

export const INPUT_FIRST: Fact = {
  description: 'a deployment that checks the input before the key',
  after: 'createNoKey',
  find: (check: CheckTranscript) =>
    check.refused('limitTextNoKey') && check.status('createNoKey') === 401 ? 'yes' : undefined,
};
