import { ASKS, type AskName, type FactName, SENT_ID } from './asks.ts';
import { nextQuery } from './next-query.ts';
import { idIn, idsOf, type Seen, withId } from './seen.ts';

/** What the user said about the orders of the deployment. */
export interface NamedOrders {
  readonly cancel: readonly bigint[];
  readonly shipped: readonly bigint[];
  readonly cancelled: readonly bigint[];
}

interface Fact {
  /** The placeholder in a path until it is known. */
  readonly description: string;
  /** The request whose reply it follows from. */
  readonly after?: AskName;
  readonly find: (seen: Seen, named: NamedOrders) => string | undefined;
}

const LARGEST_DOUBLE = BigInt(Number.MAX_SAFE_INTEGER);

/** How each fact follows from what was seen so far. */
export const FACTS: Readonly<Record<FactName, Fact>> = {
  pet: {
    description: 'an animal in the list',
    after: 'pets100',
    find: (seen) => text(idIn(seen.list('pets100')?.[0])),
  },
  largePet: {
    description: 'an animal in the list with an id beyond 2^53',
    after: 'pets100',
    find: (seen) => text(idsOf(seen.list('pets100')).find(isLarge)),
  },
  unlistedPet: {
    description: 'an animal in the inventory that a short list leaves out',
    after: 'pets100',
    find: (seen) => {
      const pets = seen.list('pets100');
      if (pets === undefined || pets.length >= 100) return undefined;
      const stocked = idsOf(seen.list('inventory'), 'petId');
      return text(stocked.find((id) => withId(pets, id) === undefined));
    },
  },
  unknownPet: {
    description: 'an id that no animal has',
    find: (seen) => {
      const used = [...idsOf(seen.list('pets100')), ...idsOf(seen.list('inventory'), 'petId')];
      return text(unused(used));
    },
  },
  nextPage: {
    description: 'a link or offset to a next page',
    find: nextPage,
  },
  created: {
    description: 'a created animal',
    after: 'create',
    find: (seen) => createdBy(seen, 'create'),
  },
  stocked: {
    description: 'a created animal',
    after: 'createPending',
    find: (seen) => createdBy(seen, 'createPending'),
  },
  unknownOrder: {
    description: 'an id that no order has',
    find: (seen, { cancel, shipped, cancelled }) =>
      text(unused([...idsOf(seen.list('orders')), ...cancel, ...shipped, ...cancelled])),
  },
  inputFirst: {
    description: 'a deployment that checks the input before the key',
    after: 'createNoKey',
    find: (seen) =>
      seen.refused('limitTextNoKey') && seen.status('createNoKey') === 401 ? 'yes' : undefined,
  },
  cancelledNow: {
    description: 'an order that was cancelled',
    after: 'cancel',
    find: (seen) => text(seen.all('cancel').find((it) => it.accepted)?.order),
  },
};

function text(id: bigint | undefined): string | undefined {
  return id?.toString();
}

function isLarge(id: bigint): boolean {
  return id > LARGEST_DOUBLE || id < -LARGEST_DOUBLE;
}

function unused(used: readonly bigint[]): bigint {
  let id = SENT_ID + 1n;
  while (used.includes(id)) id += 1n;
  return id;
}

function createdBy(seen: Seen, name: 'create' | 'createPending'): string | undefined {
  return text(idIn(seen.get(name)?.record));
}

/** The path of the second page. */
function nextPage(seen: Seen): string | undefined {
  const first = seen.get('pets1');
  const query = first && nextQuery(first.reply);
  if (query !== undefined) return `/pets${query}`;
  return first?.header('x-total-count') === undefined ? undefined : '/pets?limit=1&offset=1';
}

/** The facts that a request depends on. */
export function factsOf(name: AskName): FactName[] {
  const { path, given } = ASKS[name];
  const inPath = [...path.matchAll(PLACEHOLDER)].flatMap(([, fact = '']) =>
    isFact(fact) ? [fact] : [],
  );
  return given === undefined ? inPath : [...inPath, given];
}

/** The facts that a request depends on and that are unknown, and why if a reply did not show them. */
export function unknownFacts(
  name: AskName,
  seen: Seen,
  named: NamedOrders,
): { readonly description: string; readonly why: string | undefined }[] {
  return factsOf(name).flatMap((fact) => {
    const { description, after, find } = FACTS[fact];
    if (find(seen, named) !== undefined) return [];
    const isRead = after === undefined || seen.list(after) !== undefined;
    return { description, why: isRead ? undefined : seen.whyUnknown(after) };
  });
}

/** Fills the placeholders in a path. */
export function fill(path: string, value: (fact: FactName) => string, order: string): string {
  return path.replaceAll(PLACEHOLDER, (_, name) => (isFact(name) ? value(name) : order));
}

const PLACEHOLDER = /\{(\w+)\}/g;

function isFact(name: string): name is FactName {
  return Object.hasOwn(FACTS, name);
}
