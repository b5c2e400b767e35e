import type { ANIMALS } from '../../contract/assumptions/animal-assumptions.ts';
import { OPERATIONS } from '../../contract/operations.ts';
import type { AskName } from '../asks.ts';
import { nextQuery } from '../next-query.ts';
import { type Exchange, idIn, type Seen } from '../seen.ts';
import type { Probes } from './probe-shape.ts';

/** Fewer animals can be in order by chance. */
const FEWEST_IN_ORDER = 8;

const [LIMIT] = OPERATIONS.listPets.parameters;

/** What settles each assumption about animals. */
export const ANIMAL_PROBES: Probes<keyof typeof ANIMALS> = {
  'unknown-pet': {
    asks: ['unknownPet'],
    obstacle: (seen) =>
      hasPassedSunset(seen) && seen.status('pet') !== 200
        ? 'the operation is past its sunset'
        : undefined,
    options: {
      404: (seen) => seen.status('unknownPet') === 404,
      400: (seen) => seen.status('unknownPet') === 400,
    },
  },
  'pets-order': {
    asks: ['petsAgain', 'petsStill'],
    obstacle: (seen) => {
      const ids = idsOf(seen.get('petsAgain'));
      if (ids === undefined) return seen.whyUnknown('petsAgain');
      const isSorted = isAscending(ids) || isAscending(ids.toReversed());
      return isSorted && ids.length < FEWEST_IN_ORDER
        ? `it needs at least ${FEWEST_IN_ORDER} animals, and ${ids.length} can be in order by chance`
        : undefined;
    },
    options: {
      id: (seen) => isAscending(idsOf(seen.get('petsAgain')) ?? []),
      newest: (seen) => isAscending(idsOf(seen.get('petsAgain'))?.toReversed() ?? []),
      shuffled: (seen) => {
        const ids = idsOf(seen.get('petsAgain')) ?? [];
        const isSorted = isAscending(ids) || isAscending(ids.toReversed());
        return !isSorted && isSameAgain(seen);
      },
    },
    saw: (seen) => {
      const ids = idsOf(seen.get('petsAgain')) ?? [];
      const again = isSameAgain(seen) ? 'the same again' : 'a different order at the second call';
      return `GET /pets?limit=100: ids ${ids.slice(0, 4).join(', ')}, …, ${again}`;
    },
  },
  'pets-paging': {
    asks: ['pets1'],
    also: ['nextPage'],
    obstacle: (seen) => {
      const count = seen.list('pets100')?.length ?? 0;
      return count < 2 && !hasTotal(seen)
        ? (seen.whyNoList('pets100') ?? `it needs at least 2 animals, and there are ${count}`)
        : undefined;
    },
    options: {
      none: (seen) => !hasNext(seen) && !hasTotal(seen),
      cursor: (seen) =>
        /[?&]cursor=/.test(seen.get('nextPage')?.request.path ?? '') &&
        isFurther(seen) &&
        !hasFalseNext(seen),
      offset: (seen) => !hasNext(seen) && hasTotal(seen) && isFurther(seen) && !hasFalseTotal(seen),
    },
    saw: (seen) => {
      const total = seen.get('pets1')?.header('x-total-count');
      const page = seen.get('nextPage');
      const headers = [
        `Link ${seen.get('pets1')?.header('link') ?? 'absent'}`,
        `X-Total-Count ${total ?? 'absent'}`,
      ];
      const wrong = [
        ...(page === undefined ? [] : [`; ${page}`]),
        ...(hasFalseNext(seen) ? ['; the last page has a next one'] : []),
        ...(hasFalseTotal(seen) ? [`; ${seen.list('pets100')?.length} listed with limit=100`] : []),
      ];
      return `GET /pets?limit=1: ${headers.join(', ')}${wrong.join('')}`;
    },
  },
  'created-status': {
    asks: ['create'],
    obstacle: notCreated,
    options: {
      absent: (seen) => seen.get('create')?.record?.status == null,
      available: (seen) => seen.get('create')?.record?.status === 'available',
    },
    saw: (seen) => `POST /pets: status ${JSON.stringify(seen.get('create')?.record?.status)}`,
  },
  'assigned-ids': {
    asks: ['create', 'createPending'],
    also: ['created'],
    obstacle: (seen) => {
      const [first, second] = createdIds(seen);
      if (first === undefined) return seen.whyUnknown('create');
      if (second === undefined) return seen.whyUnknown('createPending');
      return idIn(seen.get('created')?.record) === first || hasPassedSunset(seen)
        ? undefined
        : `the created animal cannot be read under its id: ${seen.whyUnknown('created')}`;
    },
    options: {
      next: (seen) => {
        const [first = 0n, second = 0n] = createdIds(seen);
        return second - first === 1n;
      },
      int64: (seen) => {
        const [first = 0n, second = 0n] = createdIds(seen);
        return second - first !== 1n && first > BEYOND_DOUBLES && second > BEYOND_DOUBLES;
      },
    },
    saw: (seen) => `POST /pets twice: ids ${createdIds(seen).join(' and ')}`,
  },
  'deprecation-headers': {
    asks: ['pet', 'created', 'unknownPet'],
    any: true,
    obstacle: (seen) =>
      announcing(seen)?.accepted || hasPassedSunset(seen) || announced(seen).length > 0
        ? undefined
        : `no animal could be read: ${seen.whyUnknown('pet')}`,
    options: {
      sent: (seen) => DEPRECATION.every(([name, valid]) => valid(headerOf(seen, name))),
      absent: (seen) => announced(seen).length === 0,
    },
    saw: (seen) => {
      const headers = announced(seen).map(([name]) => `${name}: ${headerOf(seen, name)}`);
      return `${announcing(seen)} with ${headers.join(' and ')}`;
    },
  },
  'after-sunset': {
    asks: ['pet'],
    obstacle: (seen) =>
      hasPassedSunset(seen)
        ? undefined
        : `it needs a deployment whose clock is past ${OPERATIONS.getPet.sunset}`,
    options: {
      unchanged: (seen) => seen.status('pet') === 200,
      410: (seen) => seen.status('pet') === 410,
      404: (seen) => seen.status('pet') === 404,
    },
  },
};

const BEYOND_DOUBLES = 2n ** 53n;

const SUNSET_ENDS = Date.parse(OPERATIONS.getPet.sunset) + 24 * 60 * 60 * 1000;

/** Whether the deployment's clock is past the sunset of `GET /pets/{petId}`. */
export function hasPassedSunset(seen: Seen): boolean {
  return (clockOf(seen) ?? Date.now()) >= SUNSET_ENDS;
}

/** The time of a deployment by its `Date` headers, in milliseconds since 1970. */
export function clockOf(seen: Seen): number | undefined {
  const date = Date.parse(seen.get('pets100')?.header('date') ?? '');
  return Number.isNaN(date) ? undefined : date;
}

export function notCreated(seen: Seen): string | undefined {
  return idIn(seen.get('create')?.record) === undefined ? seen.whyUnknown('create') : undefined;
}

function idsOf(exchange: Exchange | undefined): bigint[] | undefined {
  const ids = exchange?.records?.flatMap((record) => idIn(record) ?? []);
  return ids && [...new Set(ids)];
}

/** Whether both lists have the same order. An animal that only one of them has may be new. */
function isSameAgain(seen: Seen): boolean {
  const [ids = [], again = []] = (['petsAgain', 'petsStill'] as const).map((name) =>
    idsOf(seen.get(name)),
  );
  const common = ids.filter((id) => again.includes(id));
  return (
    2 * common.length > ids.length &&
    String(common) === String(again.filter((id) => ids.includes(id)))
  );
}

function isAscending(ids: readonly bigint[]): boolean {
  return ids.every((id, at) => at === 0 || id > (ids[at - 1] ?? id));
}

function createdIds(seen: Seen): bigint[] {
  return seen.all('create', 'createPending').flatMap((it) => idIn(it.record) ?? []);
}

function hasNext(seen: Seen, name: AskName = 'pets1'): boolean {
  const exchange = seen.get(name);
  return exchange !== undefined && nextQuery(exchange.reply) !== undefined;
}

/** Whether a page that is not full, and thus the last one, has a link to a next one. */
function hasFalseNext(seen: Seen): boolean {
  return (
    (seen.list('pets100')?.length ?? LIMIT.maximum) < LIMIT.maximum && hasNext(seen, 'pets100')
  );
}

/** Whether the total differs from the number of animals on the only page. */
function hasFalseTotal(seen: Seen): boolean {
  const count = seen.list('pets100')?.length ?? LIMIT.maximum;
  const total = Number(seen.get('pets100')?.header('x-total-count') ?? count);
  return count < LIMIT.maximum ? total !== count : total < count;
}

function hasTotal(seen: Seen): boolean {
  return /^\d+$/.test(seen.get('pets1')?.header('x-total-count') ?? '');
}

/** Whether the next page has an animal, and another one than the first page. */
function isFurther(seen: Seen): boolean {
  const [first] = idsOf(seen.get('pets1')) ?? [];
  const [next] = idsOf(seen.get('nextPage')) ?? [];
  const isOnly = (seen.list('pets100')?.length ?? 0) < 2;
  return next === undefined ? isOnly : next !== first;
}

/** The headers of the deprecation, as RFC 9745, RFC 8594 and RFC 8288 write them. */
const DEPRECATION: readonly (readonly [name: string, valid: (value: string) => boolean])[] = [
  ['deprecation', (value) => /^@-?\d+$/.test(value)],
  ['sunset', (value) => /^\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT$/.test(value)],
  ['link', (value) => /^<[^>]*>\s*;/.test(value)],
];

/** The reply that shows whether `GET /pets/{petId}` announces its end: not all Errors need to. */
function announcing(seen: Seen): Exchange | undefined {
  const replies = seen.all('pet', 'created', 'unknownPet');
  return replies.find(({ accepted }) => accepted) ?? replies[0];
}

function headerOf(seen: Seen, name: string): string {
  return announcing(seen)?.header(name) ?? '';
}

function announced(seen: Seen): typeof DEPRECATION {
  return DEPRECATION.filter(([name]) => headerOf(seen, name) !== '');
}
