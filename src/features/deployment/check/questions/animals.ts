import { OPERATIONS } from '../../../../core/contract/operations.ts';
import { describe } from '../../../../core/words.ts';
import { findById, findNextQuery, readIds, UNKNOWN_WORD, unless } from '../../deployment-reply.ts';
import type { CheckTranscript, ProbeReply } from '../check-transcript.ts';
import type { DocumentRule, Need, Question, QuestionTable } from './question.ts';
import {
  askPets,
  call,
  compareFields,
  NO_KEY,
  readPet,
  refused,
  status,
  uniqueIds,
  unusedId,
} from './question.ts';

const [{ default: USUAL_PAGE }] = OPERATIONS.listPets.parameters;

/** A page may have fewer animals than the limit if it leads to a next one. */
const pageLength: DocumentRule = (reply) => {
  const { request, records = [], beside = records } = reply;
  const { length } = records;
  const limit = Number(/limit=(\d+)/.exec(request.path)?.[1] ?? USUAL_PAGE);
  const wanted = Math.min(limit, Math.max(beside.length, length));
  const holds = length === wanted || (length < wanted && isPart(reply));
  return unless(holds, '$', `${wanted} animals with limit ${limit}`, `${length}`);
};

export function isPart(reply: ProbeReply | undefined): boolean {
  if (reply?.records === undefined) return false;
  const total = Number(reply.header('x-total-count') ?? 0);
  return findNextQuery(reply) !== undefined || total > reply.records.length;
}

const PAGE = { status: 200, rules: [pageLength, uniqueIds('id')] };
const COMPARED = { compares: 'pets100' } as const;
const COMPARED_PAGE = { ...PAGE, ...COMPARED };

function filterBy(status: string): Question {
  const rule: DocumentRule = (reply) => {
    const { records = [], beside } = reply;
    const other = records.find((animal) => animal.status !== status);
    const ids = readIds(records);
    const all = beside?.filter((animal) => animal.status === status);
    const missing = isPart(reply) ? undefined : readIds(all).find((id) => !ids.includes(id));
    return [
      ...unless(other === undefined, '$[].status', `only ${status}`, describe(other?.status)),
      ...unless(missing === undefined, '$', `animal ${missing}, which is ${status}`, 'nothing'),
    ];
  };
  const more = { status: 200, rules: [rule], ...COMPARED };
  return askPets(`?limit=100&status=${status}`, 'the filter', more);
}

export const sunsetDay: DocumentRule = (reply) => {
  const day = OPERATIONS.getPet.sunset;
  const found = reply.header('sunset');
  const time = Date.parse(found ?? '');
  const isDay = !Number.isNaN(time) && new Date(time).toISOString().startsWith(day);
  const expected = new Date(day).toUTCString();
  return unless(found === undefined || isDay, 'Sunset', expected, describe(found), 'header');
};

const LARGEST_DOUBLE = BigInt(Number.MAX_SAFE_INTEGER);

const LISTED_PET: Need = {
  description: 'an animal in the list',
  after: 'pets100',
  find: (check) => {
    const ids = readIds(check.records('pets100'));
    // Rather one that a double cannot hold.
    return ids.find((id) => id > LARGEST_DOUBLE || id < -LARGEST_DOUBLE) ?? ids[0];
  },
};

const UNKNOWN_PET: Need = {
  description: 'an id that no animal has',
  find: (check) =>
    unusedId([
      ...readIds(check.records('pets100')),
      ...readIds(check.records('inventory'), 'petId'),
    ]),
};

export const ANIMAL_QUESTIONS = {
  pets100: askPets('?limit=100', 'the animals', PAGE),
  pets: askPets('', 'the default limit', COMPARED_PAGE),
  pets1: askPets('?limit=1', 'the shortest page', {
    ...COMPARED_PAGE,
    settles: 'pets-paging',
    from: ['pets100'],
    by: ['pets1'],
    also: ['nextPage'],
    obstacle: (check) =>
      check.records('pets100').length < 2 && !hasTotal(check) && 'it needs at least 2 animals',
    values: (check) => [describePaging(check)],
  }),
  pets2: askPets('?limit=2', 'a page of two animals', COMPARED_PAGE),
  nextPage: askPets('{}', 'the next page', {
    compares: 'pets1',
    needs: {
      description: 'a way to the next page',
      find: (check) => findLink(check) ?? (hasTotal(check) ? '?limit=1&offset=1' : undefined),
    },
  }),
  available: filterBy('available'),
  pending: filterBy('pending'),
  sold: filterBy('sold'),
  pet: readPet(LISTED_PET, 'an animal of the list', {
    ...COMPARED,
    status: 200,
    rules: [
      sunsetDay,
      ({ request, record, beside }) => {
        const id = BigInt(/-?\d+$/.exec(request.path)?.[0] ?? 0);
        const listed = findById(beside, id);
        return compareFields(record, listed, Object.keys({ ...listed, status: undefined }));
      },
    ],
    settles: 'after-sunset',
    obstacle: (check) =>
      !check.hasPassedSunset &&
      `it needs a deployment whose clock is past ${OPERATIONS.getPet.sunset}`,
    options: { unchanged: status(200), 410: status(410), 404: status(404) },
  }),
  unknownPet: readPet(UNKNOWN_PET, 'an id that no animal has', {
    settles: 'unknown-pet',
    obstacle: (check) =>
      check.hasPassedSunset &&
      check.get('pet')?.status !== 200 &&
      'the operation is past its sunset',
  }),
  limitText: askPets('?limit=abc', 'a limit that is not an integer', {
    settles: 'invalid-input',
    also: ['petText', 'createNoCategory', 'stockText', 'stockNothing'],
    values: (check) => refusals(check).map(({ status }) => `${status}`),
  }),
  petText: call('getPet', '', 'an id that is not an integer', { path: '/pets/abc' }),
  limit0: askPets('?limit=0', 'a limit below 1', COMPARED),
  limit101: askPets('?limit=101', 'a limit above 100', {
    ...COMPARED,
    settles: 'limit-out-of-range',
    from: ['pets100'],
    by: ['limit0', 'limit101'],
    options: {
      reject: refused,
      clamp: (reply) => lists(reply, reply.name === 'limit0' ? 1 : 100),
      default: (reply) => lists(reply, USUAL_PAGE),
    },
  }),
  unseenFilter: askPets(`?limit=100&status=${UNKNOWN_WORD}`, 'a filter for a status never seen', {
    ...COMPARED,
    settles: 'status-filter',
    also: ['createUnseenStatus', 'pets100'],
    obstacle: (check) => {
      const created = check.get('createUnseenStatus');
      if (created?.accepted) return 'the deployment accepts any status';
      return created === undefined && check.get('unseenFilter')?.records?.length === 0
        ? `an empty list can mean that any status is accepted; ${check.whyUnknown('createUnseenStatus')}`
        : undefined;
    },
    options: {
      reject: refused,
      empty: ({ records }) => records?.length === 0,
      ignore: (reply) => lists(reply, 100),
    },
  }),
  petNoKey: readPet(UNKNOWN_PET, 'a missing key', NO_KEY),
} as const satisfies QuestionTable;

/** An option, or in words. */
function describePaging(check: CheckTranscript): string {
  const query = findLink(check);
  if (query === undefined && !hasTotal(check)) return 'none';
  const [first, next] = (['pets1', 'nextPage'] as const).map(
    (name) => readIds(check.records(name))[0],
  );
  const isOnly = check.records('pets100').length < 2;
  const isFurther = next === undefined ? isOnly : next !== first;
  if (!isFurther)
    return `a way that does not lead further: ${check.all('pets1', 'nextPage').join('; ')}`;
  if (query === undefined) return 'offset';
  return /[?&]cursor=/.test(query) ? 'cursor' : `a Link to ${query}`;
}

function findLink(check: CheckTranscript): string | undefined {
  return findNextQuery(check.get('pets1') ?? { headers: [] });
}

function hasTotal(check: CheckTranscript): boolean {
  return /^\d+$/.test(check.get('pets1')?.header('x-total-count') ?? '');
}

/** Without input that was accepted, and an operation past its sunset. */
function refusals(check: CheckTranscript) {
  const pet = check.all('petText').filter((reply) => reply.refused || !check.hasPassedSunset);
  const others = check.all('createNoCategory', 'stockText', 'stockNothing');
  return [...check.all('limitText'), ...[...pet, ...others].filter(({ status }) => status >= 400)];
}

/** Whether a list has as many animals as this limit lets through; some may be new. */
function lists({ records, beside }: ProbeReply, limit: number): boolean {
  if (records === undefined || beside === undefined) return false;
  return records.length === Math.min(limit, Math.max(beside.length, records.length));
}
