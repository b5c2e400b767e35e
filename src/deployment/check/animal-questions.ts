import type { ANIMALS } from '../../contract/assumptions/record-assumptions.ts';
import { OPERATIONS } from '../../contract/operations.ts';
import { idsOf, nextQuery } from '../deployment-reply.ts';
import type { CheckTranscript, RequestName } from './check-transcript.ts';
import { type Questions, status } from './question.ts';

/** Fewer animals can be in order by chance. */
const FEWEST_IN_ORDER = 8;

const BEYOND_DOUBLES = 2n ** 53n;

/** What settles each assumption about animals. */
export const ANIMAL_QUESTIONS: Questions<keyof typeof ANIMALS> = {
  'unknown-pet': {
    by: ['unknownPet'],
    obstacle: (check) =>
      check.hasPassedSunset && check.get('pet')?.status !== 200
        ? 'the operation is past its sunset'
        : undefined,
    options: { 404: status(404), 400: status(400) },
  },
  'pets-order': {
    from: ['petsAgain', 'pets100'],
    obstacle: (check) => {
      const { length } = idsIn(check, 'petsAgain');
      return orderOf(check) !== 'no order' && length < FEWEST_IN_ORDER
        ? `it needs at least ${FEWEST_IN_ORDER} animals, and ${length} can be in order by chance`
        : undefined;
    },
    what: 'GET /pets?limit=100 twice:',
    values: (check) => [isSameAgain(check) ? orderOf(check) : 'another order at each call'],
    options: { id: /^ascending ids$/, newest: /^descending ids$/, shuffled: /^no order$/ },
  },
  'pets-paging': {
    by: ['pets1'],
    also: ['nextPage', 'pets100'],
    obstacle: (check) => {
      const list = check.get('pets100')?.records;
      if (hasTotal(check) || (list && list.length > 1)) return undefined;
      return list
        ? `it needs at least 2 animals, and there are ${list.length}`
        : check.whyUnknown('pets100');
    },
    what: 'the next page by',
    values: (check) => [pagingIn(check)],
    options: { none: /^nothing$/, cursor: /^a cursor$/, offset: /^an offset$/ },
  },
  'created-status': {
    from: ['create'],
    values: (check) => [String(check.get('create')?.record?.status ?? 'absent')],
    what: 'POST /pets: status',
    options: { absent: /^absent$/, available: /^available$/ },
  },
  'assigned-ids': {
    from: ['create', 'createPending'],
    also: ['created'],
    obstacle: (check) =>
      check.get('created')?.id === check.createdIds[0] || check.hasPassedSunset
        ? undefined
        : `the created animal cannot be read under its id: ${check.whyUnknown('created')}`,
    what: 'POST /pets twice: ids',
    values: ({ createdIds }) => {
      const [first = 0n, second = 0n] = createdIds;
      if (second - first === 1n) return ['in sequence'];
      return createdIds.map((id) => (id > BEYOND_DOUBLES ? 'beyond 2^53' : String(id)));
    },
    options: { next: /^in sequence$/, int64: /^beyond/ },
  },
  'deprecation-headers': {
    by: ['pet', 'created', 'unknownPet'],
    any: true,
    obstacle: (check) => {
      const isKnown = announcing(check)?.accepted || check.hasPassedSunset;
      return isKnown || announced(check) !== 'nothing'
        ? undefined
        : `no animal could be read: ${check.whyUnknown('pet')}`;
    },
    what: 'GET /pets/{petId} announces',
    values: (check) => [announced(check)],
    options: { sent: /^deprecation, sunset, link$/, absent: /^nothing$/ },
  },
  'after-sunset': {
    by: ['pet'],
    obstacle: (check) =>
      check.hasPassedSunset
        ? undefined
        : `it needs a deployment whose clock is past ${OPERATIONS.getPet.sunset}`,
    options: { unchanged: status(200), 410: status(410), 404: status(404) },
  },
};

/** The ids of a list, each once. */
function idsIn(check: CheckTranscript, name: RequestName): bigint[] {
  return [...new Set(idsOf(check.get(name)?.records))];
}

function orderOf(check: CheckTranscript): 'ascending ids' | 'descending ids' | 'no order' {
  const ids = idsIn(check, 'petsAgain');
  if (isAscending(ids)) return 'ascending ids';
  return isAscending(ids.toReversed()) ? 'descending ids' : 'no order';
}

function isAscending(ids: readonly bigint[]): boolean {
  return ids.every((id, at) => at === 0 || id > (ids[at - 1] ?? id));
}

/** Whether both lists have the same order. An animal that only one of them has may be new. */
function isSameAgain(check: CheckTranscript): boolean {
  const [ids, again] = [idsIn(check, 'petsAgain'), idsIn(check, 'pets100')];
  const common = ids.filter((id) => again.includes(id));
  return String(common) === String(again.filter((id) => ids.includes(id)));
}

/** How a client asks for the page after that of one animal, in words. */
function pagingIn(check: CheckTranscript): string {
  const query = nextQuery(check.get('pets1')?.reply ?? { headers: [] });
  if (query === undefined && !hasTotal(check)) return 'nothing';
  const [first] = idsIn(check, 'pets1');
  const [next] = idsIn(check, 'nextPage');
  const isOnly = (check.get('pets100')?.records?.length ?? 0) < 2;
  const isFurther = next === undefined ? isOnly : next !== first;
  if (!isFurther)
    return `a way that does not lead further: ${check.all('pets1', 'nextPage').join('; ')}`;
  if (query === undefined) return 'an offset';
  return /[?&]cursor=/.test(query) ? 'a cursor' : `a Link to ${query}`;
}

function hasTotal(check: CheckTranscript): boolean {
  return /^\d+$/.test(check.get('pets1')?.header('x-total-count') ?? '');
}

/** The reply that shows whether `GET /pets/{petId}` announces its end: not all Errors need to. */
function announcing(check: CheckTranscript) {
  const replies = check.all('pet', 'created', 'unknownPet');
  return replies.find(({ accepted }) => accepted) ?? replies[0];
}

/** The headers of the deprecation (RFC 9745, RFC 8594 and RFC 8288) that it has. */
function announced(check: CheckTranscript): string {
  const names = ['deprecation', 'sunset', 'link'];
  const found = names.filter((name) => announcing(check)?.header(name));
  return found.join(', ') || 'nothing';
}
