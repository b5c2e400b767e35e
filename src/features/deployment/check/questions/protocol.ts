import { type Fields, RECORDS } from '../../../../core/contract/records.ts';
import { type ReplyRecord, readId, readRetryAfter } from '../../deployment-reply.ts';
import type { CheckTranscript } from '../check-transcript.ts';
import type { QuestionTable, Settlement } from './question.ts';
import { accepted, askPets, NO_KEY, refused, status } from './question.ts';

const OTHER_ORIGIN = 'https://petstore-mock-check.example';

/** The requests that are sent at once: 50% more than `rate-limit: 10/s` allows. */
const BURST = 15;

export const PROTOCOL_QUESTIONS = {
  petsNoKey: askPets('', 'a missing key', NO_KEY),
  petsUnknownKey: askPets('', 'a made-up key', { key: 'unknown', status: 401 }),
  petsInvalidKey: askPets('', 'an invalid key', { key: 'invalid', status: 401 }),
  limitTextNoKey: askPets('?limit=abc', 'a missing key with a wrong limit', {
    key: 'none',
    settles: 'check-order',
    also: ['petsNoKey', 'limitText'],
    obstacle: (check) =>
      check.get('petsNoKey')?.status === 401 && check.get('limitText')?.refused
        ? undefined
        : `a missing key and a wrong limit are not both refused on their own: ${check.all('petsNoKey', 'limitText').join('; ')}`,
    options: { 'auth-first': status(401), 'input-first': refused },
  }),
  otherOrigin: askPets('?limit=3', 'a page of another origin', {
    headers: { Origin: OTHER_ORIGIN },
  }),
  preflight: {
    operation: undefined,
    method: 'OPTIONS',
    path: '/pets',
    why: 'the preflight for a page of another origin',
    headers: { Origin: OTHER_ORIGIN, 'Access-Control-Request-Method': 'GET' },
    key: 'none',
    settles: 'cors',
    by: ['otherOrigin', 'preflight'],
    values: (check) =>
      check.all('otherOrigin', 'preflight').map((reply) => {
        const allowed = reply.header('access-control-allow-origin') ?? '';
        if (!['*', OTHER_ORIGIN].includes(allowed)) return 'absent';
        return reply.accepted ? 'allowed' : String(reply);
      }),
  },
  petsReadOnly: askPets('?limit=1', 'that the read-only key is accepted', { key: 'read-only' }),
  burst: askPets('?limit=1', 'many requests in a second', {
    times: BURST,
    settles: 'rate-limit',
    obstacle: (check) => {
      const wait = readLongestWait(check);
      if (wait > 1) return `the limit counts more than the burst: 429 with Retry-After ${wait}`;
      const rate = describeRate(check);
      const times = check.all('burst').map(({ receivedAt }) => receivedAt);
      const seconds = (Math.max(...times) - Math.min(...times)) / 1000;
      const isSlow = rate !== '10/s' && seconds * Number.parseInt(rate, 10) >= 1;
      return isSlow && `the replies took ${seconds} s, too long to count a rate of ${rate}`;
    },
    values: (check) => [describeRate(check)],
  }),
} as const satisfies QuestionTable;

export const OVERALL_SETTLEMENTS: readonly Settlement[] = [
  {
    settles: 'auth-challenge',
    by: ['petsNoKey'],
    values: (check) =>
      check.everything
        .filter(status(401))
        .map(({ header }) => header('www-authenticate') ?? 'absent'),
    nothing: 'no 401 was seen',
    options: { sent: /^bearer\b/i, absent: /^absent$/ },
  },
  {
    settles: 'error-codes',
    by: ['limitText', 'unknownPet'],
    any: true,
    // All but those that several spellings share, such as `unauthorized`.
    values: (check) =>
      check.everything.flatMap(({ code }) =>
        code !== undefined && !/^[a-z0-9]*[a-z][a-z0-9]*$/.test(code) ? code : [],
      ),
    nothing: 'no Error has a code of two words',
    options: {
      snake_case: /^[a-z0-9]+(?:_[a-z0-9]+)+$/,
      UPPER_CASE: /^(?!\d+$)[A-Z0-9]+(?:_[A-Z0-9]+)*$/,
      'kebab-case': /^[a-z0-9]+(?:-[a-z0-9]+)+$/,
      numeric: /^\d+$/,
    },
  },
  {
    settles: 'deprecation-headers',
    by: ['pet', 'created', 'unknownPet'],
    any: true,
    values: (check) => {
      const replies = check.all('pet', 'created', 'unknownPet');
      const reply = replies.find(accepted) ?? replies[0];
      const names = ['deprecation', 'sunset', 'link'].filter((name) => reply?.header(name));
      // Not all Errors need them.
      const isKnown = reply?.accepted || check.hasPassedSunset || names.length > 0;
      return isKnown ? [names.join(', ') || 'nothing'] : [];
    },
    nothing: 'no animal could be read',
    options: { sent: /^deprecation, sunset, link$/, absent: /^nothing$/ },
  },
  {
    settles: 'date-format',
    from: ['orders'],
    values: (check) =>
      check
        .records('orders')
        .map(({ shipDate }) => shipDate)
        .filter((value) => typeof value === 'string'),
    nothing: 'no order in GET /store/orders has a shipDate',
    options: {
      'utc-seconds': /T\d\d:\d\d:\d\dZ$/,
      'utc-millis': /T\d\d:\d\d:\d\d\.\d{3}Z$/,
      offset: /T\d\d:\d\d:\d\d\+02:00$/,
    },
  },
  {
    settles: 'absent-optionals',
    from: ['pets100', 'orders'],
    also: ['petsAgain', 'create'],
    values: (check) => [
      ...check
        .all('pets100', 'petsAgain', 'create')
        .flatMap(({ records, record }) =>
          valueless(records ?? [record ?? {}], optionalFields(RECORDS.Animal)),
        ),
      ...valueless(check.records('orders'), optionalFields(RECORDS.Order)),
    ],
    nothing: 'every listed record has all of its fields',
    options: { omitted: /^undefined$/, null: /^null$/ },
  },
  {
    settles: 'json-charset',
    by: ['pets100', 'inventory', 'orders'],
    any: true,
    values: (check) =>
      check.everything
        .map(({ header }) => header('content-type') ?? '')
        .filter((type) => /^application\/json\b/i.test(type)),
    nothing: 'no reply is JSON',
    options: {
      bare: /^application\/json$/i,
      'utf-8': /^application\/json\s*;\s*charset="?utf-8"?$/i,
    },
  },
];

const optionalFields = (fields: Fields): readonly string[] =>
  Object.keys(fields).filter((name) => fields[name]?.required === false);

function valueless(records: readonly ReplyRecord[], fields: readonly string[]): string[] {
  return records
    .filter((record) => fields.some((name) => record[name] != null) || readId(record) !== undefined)
    .flatMap((record) => fields.map((name) => record[name]).filter((value) => value == null))
    .map(String);
}

/** The longest `Retry-After` of the burst in seconds; NaN if a 429 has none. */
function readLongestWait(check: CheckTranscript): number {
  const waits = check
    .all('burst')
    .filter(status(429))
    .map((reply) => readRetryAfter(reply));
  return Math.max(0, ...waits.map(Number));
}

function describeRate(check: CheckTranscript): string {
  const [passed, refused] = [200, 429].map(
    (expected) => check.all('burst').filter(status(expected)).length,
  );
  if (passed === BURST) return 'none';
  return passed && refused && readLongestWait(check) <= 1
    ? `${passed}/s`
    : `${passed} passed; Retry-After ${readLongestWait(check)}`;
}
