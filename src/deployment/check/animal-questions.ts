import type { ANIMALS } from '../../contract/assumptions/animal-assumptions.ts';
import { OPERATIONS } from '../../contract/operations.ts';
import { idsOf, nextQuery } from '../reply-parts.ts';
import type { CheckTranscript } from './check-transcript.ts';
import type { ProbeReply, RequestName } from './probe-reply.ts';
import { type Questions, status } from './question.ts';

/** Fewer animals can be in order by chance. */
const FEWEST_IN_ORDER = 8;

const [LIMIT] = OPERATIONS.listPets.parameters;

const BEYOND_DOUBLES = 2n ** 53n;

/** What settles each assumption about animals. */
export const ANIMAL_QUESTIONS: Questions<keyof typeof ANIMALS> = {
  'unknown-pet': {
    by: ['unknownPet'],
    obstacle: (check) =>
      check.hasPassedSunset && check.status('pet') !== 200
        ? 'the operation is past its sunset'
        : undefined,
    reply: { 404: status(404), 400: status(400) },
  },
  'pets-order': {
    by: ['petsAgain', 'petsStill'],
    obstacle: (check) => {
      const ids = listedIds(check);
      if (ids === undefined) return check.whyUnknown('petsAgain');
      return isSorted(ids) && ids.length < FEWEST_IN_ORDER
        ? `it needs at least ${FEWEST_IN_ORDER} animals, and ${ids.length} can be in order by chance`
        : undefined;
    },
    all: {
      id: (check) => isAscending(listedIds(check)),
      newest: (check) => isAscending(listedIds(check)?.toReversed()),
      shuffled: (check) => !isSorted(listedIds(check)) && isSameAgain(check),
    },
    saw: (check) => {
      const again = isSameAgain(check) ? 'the same again' : 'a different order at the second call';
      return `GET /pets?limit=100: ids ${listedIds(check)?.slice(0, 4).join(', ')}, …, ${again}`;
    },
  },
  'pets-paging': {
    by: ['pets1'],
    also: ['nextPage'],
    obstacle: (check) => {
      const count = check.list('pets100')?.length ?? 0;
      return count < 2 && !hasTotal(check)
        ? (check.whyNoList('pets100') ?? `it needs at least 2 animals, and there are ${count}`)
        : undefined;
    },
    all: {
      none: (check) => !hasNext(check) && !hasTotal(check),
      cursor: (check) =>
        /[?&]cursor=/.test(check.get('nextPage')?.request.path ?? '') &&
        isFurther(check) &&
        !hasFalseNext(check),
      offset: (check) =>
        !hasNext(check) && hasTotal(check) && isFurther(check) && !hasFalseTotal(check),
    },
    saw: (check) => {
      const header = (name: string) => check.header('pets1', name) ?? 'absent';
      return [
        `GET /pets?limit=1: Link ${header('link')}, X-Total-Count ${header('x-total-count')}`,
        ...check.all('nextPage'),
        ...(hasFalseNext(check) ? ['the last page has a next one'] : []),
        ...(hasFalseTotal(check) ? [`${check.list('pets100')?.length} listed with limit=100`] : []),
      ].join('; ');
    },
  },
  'created-status': {
    by: ['create'],
    obstacle: notCreated,
    values: (check) => [check.record('create')?.status ?? undefined],
    what: 'POST /pets: status',
    value: { absent: (it) => it === undefined, available: /^available$/ },
  },
  'assigned-ids': {
    by: ['create', 'createPending'],
    also: ['created'],
    obstacle: (check) => {
      const [first, second] = check.createdIds;
      if (first === undefined) return check.whyUnknown('create');
      if (second === undefined) return check.whyUnknown('createPending');
      return check.id('created') === first || check.hasPassedSunset
        ? undefined
        : `the created animal cannot be read under its id: ${check.whyUnknown('created')}`;
    },
    all: {
      next: areConsecutive,
      int64: (check) =>
        !areConsecutive(check) && check.createdIds.every((id) => id > BEYOND_DOUBLES),
    },
    saw: (check) => `POST /pets twice: ids ${check.createdIds.join(' and ')}`,
  },
  'deprecation-headers': {
    by: ['pet', 'created', 'unknownPet'],
    any: true,
    obstacle: (check) =>
      announcing(check)?.accepted || check.hasPassedSunset || announced(check).length > 0
        ? undefined
        : `no animal could be read: ${check.whyUnknown('pet')}`,
    all: {
      sent: (check) =>
        Object.entries(DEPRECATION).every(([name, valid]) =>
          valid.test(announcing(check)?.header(name) ?? ''),
        ),
      absent: (check) => announced(check).length === 0,
    },
    saw: (check) => `${announcing(check)} with ${announced(check).join(' and ')}`,
  },
  'after-sunset': {
    by: ['pet'],
    obstacle: (check) =>
      check.hasPassedSunset
        ? undefined
        : `it needs a deployment whose clock is past ${OPERATIONS.getPet.sunset}`,
    reply: { unchanged: status(200), 410: status(410), 404: status(404) },
  },
};

export function notCreated(check: CheckTranscript): string | undefined {
  return check.id('create') === undefined ? check.whyUnknown('create') : undefined;
}

/** The ids of a list, each once. */
function listedIds(check: CheckTranscript, name: RequestName = 'petsAgain'): bigint[] | undefined {
  const list = check.list(name);
  return list && [...new Set(idsOf(list))];
}

/** Whether both lists have the same order. An animal that only one of them has may be new. */
function isSameAgain(check: CheckTranscript): boolean {
  const [ids, again] = [listedIds(check) ?? [], listedIds(check, 'petsStill') ?? []];
  const common = ids.filter((id) => again.includes(id));
  const commonAgain = again.filter((id) => ids.includes(id));
  return 2 * common.length > ids.length && String(common) === String(commonAgain);
}

function isAscending(ids: readonly bigint[] = []): boolean {
  return ids.every((id, at) => at === 0 || id > (ids[at - 1] ?? id));
}

function isSorted(ids: readonly bigint[] = []): boolean {
  return isAscending(ids) || isAscending(ids.toReversed());
}

function areConsecutive({ createdIds: [first = 0n, second = 0n] }: CheckTranscript): boolean {
  return second - first === 1n;
}

function hasNext(check: CheckTranscript, name: RequestName = 'pets1'): boolean {
  const page = check.get(name);
  return page !== undefined && nextQuery(page.reply) !== undefined;
}

/** Whether a page that is not full, and thus the last one, has a link to a next one. */
function hasFalseNext(check: CheckTranscript): boolean {
  const count = check.list('pets100')?.length ?? LIMIT.maximum;
  return count < LIMIT.maximum && hasNext(check, 'pets100');
}

/** Whether the total differs from the number of animals on the only page. */
function hasFalseTotal(check: CheckTranscript): boolean {
  const count = check.list('pets100')?.length ?? LIMIT.maximum;
  const total = Number(check.header('pets100', 'x-total-count') ?? count);
  return count < LIMIT.maximum ? total !== count : total < count;
}

function hasTotal(check: CheckTranscript): boolean {
  return /^\d+$/.test(check.header('pets1', 'x-total-count') ?? '');
}

/** Whether the next page has an animal, and another one than the first page. */
function isFurther(check: CheckTranscript): boolean {
  const [first] = listedIds(check, 'pets1') ?? [];
  const [next] = listedIds(check, 'nextPage') ?? [];
  const isOnly = (check.list('pets100')?.length ?? 0) < 2;
  return next === undefined ? isOnly : next !== first;
}

/** The headers of the deprecation, as RFC 9745, RFC 8594 and RFC 8288 write them. */
const DEPRECATION: Readonly<Record<string, RegExp>> = {
  deprecation: /^@-?\d+$/,
  sunset: /^\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT$/,
  link: /^<[^>]*>\s*;/,
};

/** The reply that shows whether `GET /pets/{petId}` announces its end: not all Errors need to. */
function announcing(check: CheckTranscript): ProbeReply | undefined {
  const replies = check.all('pet', 'created', 'unknownPet');
  return replies.find(({ accepted }) => accepted) ?? replies[0];
}

function announced(check: CheckTranscript): string[] {
  return Object.keys(DEPRECATION).flatMap((name) => {
    const value = announcing(check)?.header(name);
    return value ? [`${name}: ${value}`] : [];
  });
}
