import type { INPUT } from '../../contract/assumptions/input-assumptions.ts';
import type { WIRE } from '../../contract/assumptions/wire-assumptions.ts';
import { isObject } from '../../contract/records.ts';
import { idIn, type JsonRecord, secondsToWait } from '../deployment-reply.ts';
import type { CheckTranscript } from './check-transcript.ts';
import { accepted, type Questions, refused, status } from './question.ts';
import { BURST, OTHER_ORIGIN, SENT_ID } from './read-requests.ts';

/** What settles each assumption about input. */
export const INPUT_QUESTIONS: Questions<keyof typeof INPUT> = {
  'invalid-input': {
    by: ['limitText'],
    also: ['petText', 'createNoCategory', 'stockText', 'stockNothing'],
    what: 'refusals with',
    values: (check) => refusals(check).map((it) => String(it.status)),
    options: { 400: /^400$/, 422: /^422$/ },
  },
  'limit-out-of-range': {
    from: ['pets100'],
    by: ['limit0', 'limit101'],
    options: {
      reject: refused,
      clamp: (_, check) => lists(check, 'limit0', 1) && lists(check, 'limit101', 100),
      default: (_, check) => lists(check, 'limit0', 20) && lists(check, 'limit101', 20),
    },
  },
  'status-filter': {
    by: ['unseenFilter'],
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
      ignore: (_, check) => lists(check, 'unseenFilter', 100),
    },
  },
  'animal-status-values': { by: ['createUnseenStatus'], options: { seen: refused, any: accepted } },
  'name-limits': {
    by: ['createLongName'],
    obstacle: (check) =>
      check.get('createLongName')?.accepted &&
      'none or non-empty: only an empty name could tell, but an animal without a name would not show where it comes from',
    options: { none: () => false, 'non-empty': () => false, 255: refused },
  },
  'id-on-create': {
    by: ['createWithId'],
    options: {
      reject: refused,
      ignore: ({ id }) => id !== undefined && id !== SENT_ID,
    },
  },
  'unknown-body-fields': {
    by: ['createUnknownField'],
    options: { ignore: accepted, reject: refused },
  },
  'unknown-query': { by: ['unknownQuery'], options: { ignore: status(200), reject: refused } },
  'negative-quantity': {
    by: ['stockNegative'],
    obstacle: (check) =>
      check.get('stockNegative')?.status === 404 &&
      'no animal that the check creates has an inventory entry',
    options: { reject: refused, accept: ({ record }) => record?.quantity === -1 },
  },
  'media-type': { by: ['createAsText'], options: { reject: status(415), lenient: accepted } },
  'body-limit': {
    by: ['createOver10kb', 'createOver1mb'],
    what: 'bodies of 11 and 1025 KiB:',
    values: (check) => [
      check
        .all('createOver10kb', 'createOver1mb')
        .map((it) => (it.refused ? 'refused' : it.status))
        .join(', '),
    ],
    options: { '1mb': /^refused, 413$/, '10kb': /^413, 413$/, none: /^refused, refused$/ },
  },
  'check-order': {
    by: ['limitTextNoKey'],
    also: ['petsNoKey', 'limitText'],
    obstacle: (check) =>
      check.get('petsNoKey')?.status === 401 && check.get('limitText')?.refused
        ? undefined
        : `a missing key and a wrong limit are not both refused on their own: ${check.all('petsNoKey', 'limitText').join('; ')}`,
    options: { 'auth-first': status(401), 'input-first': refused },
  },
};

/** The refusals of input. Ignores input that was accepted, and an operation past its sunset. */
function refusals(check: CheckTranscript) {
  const pet = check.all('petText').filter((it) => it.refused || !check.hasPassedSunset);
  const others = check.all('createNoCategory', 'stockText', 'stockNothing');
  return [...check.all('limitText'), ...[...pet, ...others].filter((it) => it.status >= 400)];
}

/** Whether a list has as many animals as this limit lets through. */
function lists(
  check: CheckTranscript,
  name: 'limit0' | 'limit101' | 'unseenFilter',
  limit: number,
): boolean {
  const known = check.get('pets100')?.records?.length ?? 0;
  return check.get(name)?.records?.length === Math.min(limit, known);
}

/** What settles each assumption about keys, errors and the wire format. */
export const WIRE_QUESTIONS: Questions<keyof typeof WIRE> = {
  'read-only-keys': {
    by: ['createReadOnly'],
    also: ['petsReadOnly'],
    obstacle: (check) => !check.get('petsReadOnly')?.accepted && check.whyUnknown('petsReadOnly'),
    options: { ignored: accepted, 403: status(403) },
  },
  'auth-challenge': {
    by: ['petsNoKey'],
    values: (check) =>
      check.everything.filter(status(401)).map((it) => it.header('www-authenticate') ?? 'absent'),
    what: '401 with WWW-Authenticate:',
    nothing: 'no 401 was seen',
    options: { sent: /^bearer\b/i, absent: /^absent$/ },
  },
  'error-codes': {
    by: ['limitText', 'unknownPet'],
    any: true,
    // All but those that several spellings share, such as `unauthorized`.
    values: (check) =>
      check.everything.flatMap(({ status, json }) => {
        const code = status >= 400 && isObject(json) ? json.code : undefined;
        return typeof code === 'string' && !/^[a-z0-9]*[a-z][a-z0-9]*$/.test(code) ? [code] : [];
      }),
    what: 'codes',
    nothing: 'no Error has a code of two words',
    options: {
      snake_case: /^[a-z0-9]+(?:_[a-z0-9]+)+$/,
      UPPER_CASE: /^(?!\d+$)[A-Z0-9]+(?:_[A-Z0-9]+)*$/,
      'kebab-case': /^[a-z0-9]+(?:-[a-z0-9]+)+$/,
      numeric: /^\d+$/,
    },
  },
  'rate-limit': {
    by: ['burst'],
    obstacle: (check) => {
      const wait = waitIn(check);
      if (wait > 1) return `the limit counts more than the burst: 429 with Retry-After ${wait}`;
      const rate = rateIn(check);
      const times = check.all('burst').map(({ receivedAt }) => receivedAt);
      const seconds = (Math.max(...times) - Math.min(...times)) / 1000;
      const isSlow = rate !== '10/s' && seconds * Number.parseInt(rate, 10) >= 1;
      return isSlow && `the replies took ${seconds} s, too long to count a rate of ${rate}`;
    },
    values: (check) => [rateIn(check)],
    what: `${BURST} requests at once:`,
    options: { none: /^no limit$/, '10/s': /^10\/s$/ },
    other: /^\d+\/s$/,
  },
  'unknown-method': {
    by: ['getOrder'],
    options: {
      405: (it) => it.status === 405 && it.header('allow') !== undefined,
      404: status(404),
    },
  },
  'absent-optionals': {
    from: ['pets100', 'orders'],
    also: ['petsAgain', 'create'],
    values: (check) => [
      ...check
        .all('pets100', 'petsAgain', 'create')
        .flatMap(({ records, record }) => valueless(records ?? [record ?? {}], ['status'])),
      ...valueless(check.get('orders')?.records ?? [], ORDER_FIELDS),
    ],
    what: 'optional fields without a value are',
    nothing: 'every listed record has all of its fields',
    options: { omitted: /^undefined$/, null: /^null$/ },
  },
  'date-format': {
    from: ['orders'],
    values: (check) =>
      (check.get('orders')?.records ?? [])
        .map(({ shipDate }) => shipDate)
        .filter((value) => typeof value === 'string'),
    what: 'shipDates such as',
    nothing: 'no order in GET /store/orders has a shipDate',
    options: {
      'utc-seconds': /T\d\d:\d\d:\d\dZ$/,
      'utc-millis': /T\d\d:\d\d:\d\d\.\d{3}Z$/,
      offset: /T\d\d:\d\d:\d\d\+02:00$/,
    },
  },
  'json-charset': {
    by: ['pets100', 'inventory', 'orders'],
    any: true,
    values: (check) =>
      check.everything
        .map((it) => it.header('content-type') ?? '')
        .filter((type) => /^application\/json\b/i.test(type)),
    what: 'Content-Types',
    nothing: 'no reply is JSON',
    options: {
      bare: /^application\/json$/i,
      'utf-8': /^application\/json\s*;\s*charset="?utf-8"?$/i,
    },
  },
  cors: {
    by: ['otherOrigin', 'preflight'],
    values: (check) =>
      check.all('otherOrigin', 'preflight').map((it) => {
        const allowed = it.header('access-control-allow-origin') ?? '';
        if (!['*', OTHER_ORIGIN].includes(allowed)) return 'no';
        return it.accepted ? 'yes' : String(it);
      }),
    what: 'Access-Control-Allow-Origin:',
    options: { allowed: /^yes$/, absent: /^no$/ },
  },
};

/** The longest `Retry-After` of the burst, in seconds; not a number if a 429 has none. */
function waitIn(check: CheckTranscript): number {
  const waits = check
    .all('burst')
    .filter(status(429))
    .map((it) => secondsToWait(it.reply));
  return Math.max(0, ...waits.map(Number));
}

/** The rate per second that the burst shows, or what it shows instead. */
function rateIn(check: CheckTranscript): string {
  const [passed, refused] = [200, 429].map((it) => check.all('burst').filter(status(it)).length);
  if (passed === BURST) return 'no limit';
  return passed && refused && waitIn(check) <= 1
    ? `${passed}/s`
    : `${passed} were let through; Retry-After ${waitIn(check)}`;
}

const ORDER_FIELDS = ['id', 'petId', 'quantity', 'shipDate', 'complete'];

/** The optional fields that a record has no value for: undefined or null. */
function valueless(records: readonly JsonRecord[], fields: readonly string[]): string[] {
  return records
    .filter((it) => fields.some((name) => it[name] != null) || idIn(it) !== undefined)
    .flatMap((it) => fields.map((name) => it[name]).filter((value) => value == null))
    .map(String);
}
