import type { WIRE } from '../../contract/assumptions/wire-assumptions.ts';
import { isObject } from '../../contract/records.ts';
import { describe } from '../../words.ts';
import type { CheckTranscript, ProbeReply } from '../check-transcript.ts';
import { BURST, OTHER_ORIGIN } from '../check-values.ts';
import { secondsToWait } from '../deployment-client.ts';
import { describeBody } from '../describe-body.ts';
import { idIn, type JsonRecord } from '../record-ids.ts';
import type { RequestName } from '../request-names.ts';
import { accepted, every, type Probes, some, status, without } from './probe-shape.ts';

/** What settles each assumption about keys, errors and the wire format. */
export const WIRE_PROBES: Probes<keyof typeof WIRE> = {
  'read-only-keys': {
    requests: ['createReadOnly'],
    also: ['petsReadOnly'],
    obstacle: unless('petsReadOnly', 200),
    options: { ignored: accepted('createReadOnly'), 403: status('createReadOnly', 403) },
  },
  'auth-challenge': {
    requests: ['petsNoKey'],
    obstacle: unless('petsNoKey', 401),
    options: {
      sent: every(challenges, /^bearer\b/i),
      absent: (check) => challenges(check).every((value) => value === undefined),
    },
    saw: (check) => `401 with WWW-Authenticate: ${[...new Set(challenges(check))].join(' or ')}`,
  },
  'error-codes': {
    requests: ['limitText', 'unknownPet'],
    any: true,
    obstacle: (check) =>
      codes(check).length === 0
        ? `no Error has a code of two words: ${check.all('limitText', 'unknownPet').map(withCode).join('; ')}`
        : undefined,
    options: {
      snake_case: every(codes, /^[a-z0-9]+(?:_[a-z0-9]+)+$/),
      UPPER_CASE: every(codes, /^(?!\d+$)[A-Z0-9]+(?:_[A-Z0-9]+)*$/),
      'kebab-case': every(codes, /^[a-z0-9]+(?:-[a-z0-9]+)+$/),
      numeric: every(codes, /^\d+$/),
    },
    saw: (check) => `codes ${some(codes(check), 5)}`,
  },
  'rate-limit': {
    requests: ['burst'],
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
    options: {
      none: (check) => passed(check) === BURST.requests,
      '10/s': (check) => rateOf(check) === '10/s',
    },
    other: rateOf,
    saw: (check) =>
      `${BURST.requests} requests at once: ${passed(check)} were let through; Retry-After ${waitOf(check) ?? 'absent'}`,
  },
  'unknown-method': {
    requests: ['getOrder'],
    options: {
      405: (check) =>
        check.status('getOrder') === 405 && check.header('getOrder', 'allow') !== undefined,
      404: status('getOrder', 404),
    },
    saw: (check) => `${check.get('getOrder')} with Allow: ${check.header('getOrder', 'allow')}`,
  },
  'absent-optionals': {
    requests: ['pets100', 'orders'],
    obstacle: without(optionals, 'every listed record has all of its fields', 'pets100', 'orders'),
    options: {
      omitted: (check) => optionals(check).every((value) => value === undefined),
      null: (check) => optionals(check).every((value) => value === null),
    },
    saw: () => 'some optional fields are omitted and others are null',
  },
  'date-format': {
    requests: ['orders'],
    obstacle: without(dates, 'no order in GET /store/orders has a shipDate', 'orders'),
    options: {
      'utc-seconds': every(dates, /T\d\d:\d\d:\d\dZ$/),
      'utc-millis': every(dates, /T\d\d:\d\d:\d\d\.\d{3}Z$/),
      offset: every(dates, /T\d\d:\d\d:\d\d\+02:00$/),
    },
    saw: (check) => `shipDates such as ${some(dates(check), 3)}`,
  },
  'json-charset': {
    requests: ['pets100', 'inventory', 'orders'],
    any: true,
    obstacle: without(jsonTypes, 'no reply is JSON'),
    options: {
      bare: every(jsonTypes, /^application\/json$/i),
      'utf-8': every(jsonTypes, /^application\/json\s*;\s*charset="?utf-8"?$/i),
    },
    saw: (check) => `Content-Types ${some(jsonTypes(check))}`,
  },
  cors: {
    requests: ['otherOrigin', 'preflight'],
    options: {
      allowed: (check) => crossOrigin(check).every(allows) && check.accepted('preflight'),
      absent: (check) => !crossOrigin(check).some(allows),
    },
    saw: (check) =>
      crossOrigin(check)
        .map((it) => `${it} ${allows(it) ? 'with' : 'without'} Access-Control-Allow-Origin`)
        .join(', '),
  },
};

/** Why a request got another status than the one that the others build on. */
function unless(name: RequestName, expected: number) {
  return (check: CheckTranscript) =>
    check.status(name) === expected ? undefined : check.whyUnknown(name);
}

/** The challenge of each 401. */
function challenges(check: CheckTranscript): (string | undefined)[] {
  return check.everything
    .filter((it) => it.status === 401)
    .map((it) => it.header('www-authenticate'));
}

/** The codes of all Errors but those that several spellings share, such as `unauthorized`. */
function codes(check: CheckTranscript): string[] {
  return check.everything.flatMap((it) => {
    const code = it.status >= 400 && isObject(it.json) ? it.json.code : undefined;
    return typeof code === 'string' && !/^[a-z0-9]*[a-z][a-z0-9]*$/.test(code) ? [code] : [];
  });
}

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
function optionals(check: CheckTranscript): unknown[] {
  const valueless = (records: readonly JsonRecord[] = [], fields = ['status']) =>
    records
      .filter((it) => fields.some((name) => it[name] != null) || idIn(it) !== undefined)
      .flatMap((it) => fields.map((name) => it[name]).filter((value) => value == null));
  return [
    ...valueless(check.list('pets100')),
    ...valueless(check.list('petsAgain')),
    ...valueless(createdRecords(check)),
    ...valueless(check.list('orders'), ORDER_FIELDS),
  ];
}

function createdRecords(check: CheckTranscript): JsonRecord[] {
  const record = check.record('create');
  return record === undefined ? [] : [record];
}

function dates(check: CheckTranscript): string[] {
  const values = (check.list('orders') ?? []).map(({ shipDate }) => shipDate);
  return values.filter((value) => typeof value === 'string');
}

function jsonTypes(check: CheckTranscript): string[] {
  const types = check.everything.map((it) => it.header('content-type') ?? '');
  return types.filter((type) => /^application\/json\b/i.test(type));
}

function crossOrigin(check: CheckTranscript): readonly ProbeReply[] {
  return check.all('otherOrigin', 'preflight');
}

function allows(it: ProbeReply): boolean {
  return ['*', OTHER_ORIGIN].includes(it.header('access-control-allow-origin') ?? '');
}
