import type { WIRE } from '../../contract/assumptions/wire-assumptions.ts';
import { isObject } from '../../contract/records.ts';
import { describe } from '../../words.ts';
import { describeBody, idIn, type JsonRecord, secondsToWait } from '../reply-parts.ts';
import type { CheckTranscript } from './check-transcript.ts';
import type { ProbeReply } from './probe-reply.ts';
import { accepted, nothingIn, type Questions, status, unless } from './question.ts';
import { BURST, OTHER_ORIGIN } from './request-parts.ts';

/** What settles each assumption about keys, errors and the wire format. */
export const WIRE_QUESTIONS: Questions<keyof typeof WIRE> = {
  'read-only-keys': {
    by: ['createReadOnly'],
    also: ['petsReadOnly'],
    obstacle: unless('petsReadOnly', 200),
    reply: { ignored: accepted, 403: status(403) },
  },
  'auth-challenge': {
    by: ['petsNoKey'],
    obstacle: unless('petsNoKey', 401),
    values: (check) =>
      check.everything.filter(status(401)).map((it) => it.header('www-authenticate')),
    what: '401 with WWW-Authenticate:',
    value: { sent: /^bearer\b/i, absent: (it) => it === undefined },
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
    nothing: (check) =>
      `no Error has a code of two words: ${check.all('limitText', 'unknownPet').map(withCode).join('; ')}`,
    value: {
      snake_case: /^[a-z0-9]+(?:_[a-z0-9]+)+$/,
      UPPER_CASE: /^(?!\d+$)[A-Z0-9]+(?:_[A-Z0-9]+)*$/,
      'kebab-case': /^[a-z0-9]+(?:-[a-z0-9]+)+$/,
      numeric: /^\d+$/,
    },
  },
  'rate-limit': {
    by: ['burst'],
    obstacle: (check) => {
      const replies = check.all('burst');
      if (!replies.every((it) => it.status === 200 || it.status === 429)) {
        return 'not every request of the burst got 200 or 429';
      }
      const wait = waitOf(check) ?? 0;
      if (wait > BURST.seconds) {
        return `the limit counts more than the burst: 429 with Retry-After ${wait}`;
      }
      const times = replies.map((it) => it.receivedAt);
      const took = Math.max(...times) - Math.min(...times);
      const allowedMeanwhile = (took / 1000) * passed(check);
      const rate = rateOf(check);
      return rate !== undefined && rate !== '10/s' && allowedMeanwhile >= 1
        ? `the replies to ${BURST.requests} requests at once took ${Math.round(took)} ms, too long to count them`
        : undefined;
    },
    all: {
      none: (check) => passed(check) === BURST.requests,
      '10/s': (check) => rateOf(check) === '10/s',
    },
    other: rateOf,
    saw: (check) =>
      `${BURST.requests} requests at once: ${passed(check)} were let through; Retry-After ${waitOf(check) ?? 'absent'}`,
  },
  'unknown-method': {
    by: ['getOrder'],
    reply: {
      405: (it) => it.status === 405 && it.header('allow') !== undefined,
      404: status(404),
    },
    saw: (check) => `${check.get('getOrder')} with Allow: ${check.header('getOrder', 'allow')}`,
  },
  'absent-optionals': {
    by: ['pets100', 'orders'],
    values: (check) => [
      ...valueless(check.list('pets100')),
      ...valueless(check.list('petsAgain')),
      ...check.all('create').flatMap(({ record }) => (record ? valueless([record]) : [])),
      ...valueless(check.list('orders'), ORDER_FIELDS),
    ],
    what: 'optional fields without a value are',
    nothing: nothingIn(['pets100', 'orders'], 'every listed record has all of its fields'),
    value: { omitted: (it) => it === undefined, null: (it) => it === null },
  },
  'date-format': {
    by: ['orders'],
    values: (check) =>
      (check.list('orders') ?? [])
        .map(({ shipDate }) => shipDate)
        .filter((value) => typeof value === 'string'),
    what: 'shipDates such as',
    nothing: nothingIn(['orders'], 'no order in GET /store/orders has a shipDate'),
    value: {
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
    nothing: () => 'no reply is JSON',
    value: {
      bare: /^application\/json$/i,
      'utf-8': /^application\/json\s*;\s*charset="?utf-8"?$/i,
    },
  },
  cors: {
    by: ['otherOrigin', 'preflight'],
    all: {
      allowed: (check) => crossOrigin(check).every(allows) && check.accepted('preflight'),
      absent: (check) => !crossOrigin(check).some(allows),
    },
    saw: (check) =>
      crossOrigin(check)
        .map((it) => `${it} ${allows(it) ? 'with' : 'without'} Access-Control-Allow-Origin`)
        .join(', '),
  },
};

/** A reply and the code of its Error. */
function withCode(it: ProbeReply): string {
  const { json, reply } = it;
  return `${it} with ${isObject(json) ? `code ${describe(json.code)}` : describeBody(reply)}`;
}

/** How many requests of the burst were let through. */
function passed(check: CheckTranscript): number {
  return check.all('burst').filter((it) => it.status === 200).length;
}

/** A rate per second; undefined if the burst shows none. */
function rateOf(check: CheckTranscript): string | undefined {
  const count = passed(check);
  const isLimited = count > 0 && count < BURST.requests && waitOf(check) !== undefined;
  return isLimited ? `${count}/s` : undefined;
}

/** The longest `Retry-After` of the burst, in seconds; undefined if a 429 has none. */
function waitOf(check: CheckTranscript): number | undefined {
  const refused = check.all('burst').filter((it) => it.status === 429);
  const waits = refused.map((it) => secondsToWait(it.reply));
  return waits.includes(undefined) ? undefined : Math.max(...waits.map(Number));
}

const ORDER_FIELDS = ['id', 'petId', 'quantity', 'shipDate', 'complete'];

/** The optional fields that a record has no value for: undefined or null. */
function valueless(records: readonly JsonRecord[] = [], fields = ['status']): unknown[] {
  return records
    .filter((it) => fields.some((name) => it[name] != null) || idIn(it) !== undefined)
    .flatMap((it) => fields.map((name) => it[name]).filter((value) => value == null));
}

function crossOrigin(check: CheckTranscript): readonly ProbeReply[] {
  return check.all('otherOrigin', 'preflight');
}

function allows(it: ProbeReply): boolean {
  return ['*', OTHER_ORIGIN].includes(it.header('access-control-allow-origin') ?? '');
}
