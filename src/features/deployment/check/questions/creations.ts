import { OPERATIONS } from '../../../../core/contract/operations.ts';
import { findById, readIds, UNKNOWN_WORD, unless } from '../../deployment-reply.ts';
import { OTHER_CLIENT } from '../check-report.ts';
import type { CheckTranscript, ProbeReply } from '../check-transcript.ts';
import { isPart, sunsetDay } from './animals.ts';
import type { DocumentRule, Need, QuestionTable } from './question.ts';
import {
  accepted,
  askPets,
  call,
  compareFields,
  NO_KEY,
  type QuestionMembers,
  readPet,
  refused,
  refuses,
  SENT_ID,
  status,
} from './question.ts';

const [{ maximum: MAX_PAGE }] = OPERATIONS.listPets.parameters;

const ORIGIN = 'petstore-mock check';

const animal = (name: string, more = '') => `{"name":"${ORIGIN}: ${name}","categoryId":1${more}}`;

/** An int64 that a double cannot hold. */
const LARGEST = 2n ** 53n;

/** One character more than `name-limits: 255` allows. */
const LONG_NAME = `${ORIGIN}: `.padEnd(256, 'x');

const asSent: DocumentRule = ({ record, sent }) =>
  compareFields(
    record,
    sent,
    Object.keys(OPERATIONS.createPet.body.fields).filter((field) => Object.hasOwn(sent, field)),
  );

const createPet = (body: string, why: string, more?: QuestionMembers) =>
  call('createPet', '', why, { body, rules: [asSent], ...more });
const createOver = (kib: number, more?: QuestionMembers) =>
  createPet('{}'.padEnd((kib + 1) * 1024), `a body of ${kib + 1} KiB, wrong at any size`, more);

const CREATED_PET: Need = {
  description: 'a created animal',
  after: 'create',
  find: (check) => check.get('create')?.id,
};

const FIRST = ['create', 'createPending'] as const;

/** The creations that a deployment may accept, in order. */
const CREATIONS = [...FIRST, 'createLongName', 'createWithId', 'createUnknownField'] as const;

export const CREATION_QUESTIONS = {
  create: createPet(
    `{"name":"${ORIGIN}: no status","categoryId":${LARGEST + 1n}}`,
    'an animal without a status, in a category beyond 2^53',
    {
      status: 201,
      settles: 'created-status',
      from: ['create'],
      values: (check) => [String(check.get('create')?.record?.status ?? 'absent')],
    },
  ),
  createPending: createPet(animal('stock', ',"status":"pending"'), 'an animal to change stock of', {
    status: 201,
    settles: 'assigned-ids',
    from: ['create', 'createPending'],
    obstacle: (check) => {
      const ids = createdIds(check, CREATIONS);
      const hasGaps = isAscending(ids) && ids.every((id) => id <= LARGEST) && !hasNeighbours(ids);
      return hasGaps && `the new ids have gaps, as if ${OTHER_CLIENT} had created animals as well`;
    },
    values: (check) => {
      const ids = createdIds(check, CREATIONS);
      return hasNeighbours(ids) ? ['next'] : ids.map((id) => (id > LARGEST ? 'int64' : `${id}`));
    },
  }),
  created: readPet(CREATED_PET, 'the first created animal', {
    status: 200,
    isShown: ({ status }, check) => status === 200 || check.hasPassedSunset,
    rules: [
      sunsetDay,
      ({ record }, check) => {
        const { id, sent } = check.get('create') ?? {};
        return compareFields(record, { id, ...sent });
      },
    ],
  }),
  createLongName: createPet(`{"name":"${LONG_NAME}","categoryId":1}`, 'a name of 256 characters', {
    settles: 'name-limits',
    obstacle: (check) =>
      check.get('createLongName')?.accepted &&
      'none or non-empty: only an empty name could tell, but an animal without a name would not show where it comes from',
    options: { none: () => false, 'non-empty': () => false, 255: refused },
  }),
  createNoKey: createPet(animal('no key'), 'a missing key', NO_KEY),
  createWithId: createPet(animal('id', `,"id":${SENT_ID}`), 'a body with an id', {
    settles: 'id-on-create',
    options: { reject: refused, ignore: ({ id }) => id !== undefined && id !== SENT_ID },
  }),
  createUnknownField: createPet(
    animal('field', `,"${UNKNOWN_WORD}":1`),
    'a body with an unknown field',
    { settles: 'unknown-body-fields', options: { ignore: accepted, reject: refused } },
  ),
  createUnseenStatus: createPet(
    animal('status', `,"status":"${UNKNOWN_WORD}"`),
    'a status never seen',
    { settles: 'animal-status-values', options: { seen: refused, any: accepted } },
  ),
  createNoCategory: createPet(`{"name":"${ORIGIN}: no category"}`, 'a missing required field', {
    rules: refuses('categoryId'),
  }),
  createAsText: createPet(animal('text/plain'), 'a body that is not declared as JSON', {
    headers: { 'Content-Type': 'text/plain' },
    settles: 'media-type',
    options: { reject: status(415), lenient: accepted },
  }),
  createOver10kb: createOver(10),
  createOver1mb: createOver(1024, {
    settles: 'body-limit',
    by: ['createOver10kb', 'createOver1mb'],
    values: (check) => [
      check
        .all('createOver10kb', 'createOver1mb')
        .map(({ refused, status }) => (refused ? 'refused' : status))
        .join(', '),
    ],
    options: { '1mb': /^refused, 413$/, '10kb': /^413, 413$/, none: /^refused, refused$/ },
  }),
  createReadOnly: createPet(animal('read-only key'), 'a read-only key', {
    key: 'read-only',
    needs: CREATED_PET,
    settles: 'read-only-keys',
    also: ['petsReadOnly'],
    obstacle: (check) => !check.get('petsReadOnly')?.accepted && check.whyUnknown('petsReadOnly'),
    options: { ignored: accepted, 403: status(403) },
  }),
  petsAgain: askPets('?limit=100', 'the order of the animals', {
    status: 200,
    isShown: (reply, check) => createdIds(check, FIRST).every((id) => isOnPage(reply, id)),
    rules: [
      (reply, check) => {
        const id = check.get('created')?.id;
        const holds = id === undefined || isOnPage(reply, id);
        return unless(holds, '$', `animal ${id}, which was created`, 'nothing');
      },
    ],
    settles: 'pets-order',
    from: ['petsAgain', 'pets100'],
    obstacle: (check) => {
      const { length } = listIds(check, 'petsAgain');
      const isSorted = describeOrder(check) !== 'shuffled';
      return isSorted && length < 8 && `it needs 8 animals: ${length} can be in order by chance`;
    },
    values: (check) => [isSameAgain(check) ? describeOrder(check) : 'another order at each call'],
  }),
} as const satisfies QuestionTable;

function createdIds(check: CheckTranscript, names: typeof FIRST | typeof CREATIONS): bigint[] {
  return check.all(...names).flatMap(({ id }) => id ?? []);
}

function hasNeighbours(ids: readonly bigint[]): boolean {
  return ids.some((id, at) => id - (ids[at - 1] ?? id) === 1n);
}

function isOnPage(reply: ProbeReply, id: bigint): boolean {
  const isCut = (reply.records?.length ?? 0) >= MAX_PAGE || isPart(reply);
  return isCut || findById(reply.records, id) !== undefined;
}

function listIds(check: CheckTranscript, name: 'pets100' | 'petsAgain'): bigint[] {
  return [...new Set(readIds(check.records(name)))];
}

function describeOrder(check: CheckTranscript): 'id' | 'newest' | 'shuffled' {
  const ids = listIds(check, 'petsAgain');
  if (isAscending(ids)) return 'id';
  return isAscending(ids.toReversed()) ? 'newest' : 'shuffled';
}

function isAscending(ids: readonly bigint[]): boolean {
  return ids.every((id, at) => at === 0 || id > (ids[at - 1] ?? id));
}

/** An animal that only one of the lists has may be new. */
function isSameAgain(check: CheckTranscript): boolean {
  const [ids, again] = [listIds(check, 'petsAgain'), listIds(check, 'pets100')];
  const common = ids.filter((id) => again.includes(id));
  return String(common) === String(again.filter((id) => ids.includes(id)));
}
