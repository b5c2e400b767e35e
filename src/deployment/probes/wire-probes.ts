import type { WIRE } from '../../contract/assumptions/wire-assumptions.ts';
import { isObject } from '../../contract/records.ts';
import { describe } from '../../words.ts';
import { BURST, OTHER_ORIGIN } from '../asks.ts';
import { secondsToWait } from '../deployment-client.ts';
import { describeBody } from '../describe-body.ts';
import { type Exchange, idIn, type JsonRecord, type Seen } from '../seen.ts';
import type { Probes } from './probe-shape.ts';

/** What settles each assumption about keys, errors and the wire format. */
export const WIRE_PROBES: Probes<keyof typeof WIRE> = {
  'read-only-keys': {
    asks: ['createReadOnly'],
    also: ['petsReadOnly'],
    obstacle: (seen) =>
      seen.status('petsReadOnly') === 200 ? undefined : seen.whyUnknown('petsReadOnly'),
    options: {
      ignored: (seen) => seen.get('createReadOnly')?.accepted === true,
      403: (seen) => seen.status('createReadOnly') === 403,
    },
  },
  'auth-challenge': {
    asks: ['petsNoKey'],
    obstacle: (seen) =>
      seen.status('petsNoKey') === 401 ? undefined : seen.whyUnknown('petsNoKey'),
    options: {
      sent: (seen) => challenges(seen).every((value) => /^bearer\b/i.test(value ?? '')),
      absent: (seen) => challenges(seen).every((value) => value === undefined),
    },
    saw: (seen) => `401 with WWW-Authenticate: ${[...new Set(challenges(seen))].join(' or ')}`,
  },
  'error-codes': {
    asks: ['limitText', 'unknownPet'],
    any: true,
    obstacle: (seen) =>
      codes(seen).length === 0
        ? `no Error has a code of two words: ${seen.all('limitText', 'unknownPet').map(told).join('; ')}`
        : undefined,
    options: {
      snake_case: (seen) => codes(seen).every((code) => /^[a-z0-9]+(?:_[a-z0-9]+)+$/.test(code)),
      UPPER_CASE: (seen) =>
        codes(seen).every((code) => /^[A-Z0-9]+(?:_[A-Z0-9]+)*$/.test(code) && !isNumeric(code)),
      'kebab-case': (seen) => codes(seen).every((code) => /^[a-z0-9]+(?:-[a-z0-9]+)+$/.test(code)),
      numeric: (seen) => codes(seen).every(isNumeric),
    },
    saw: (seen) => `codes ${[...new Set(codes(seen))].slice(0, 5).join(', ')}`,
  },
  'rate-limit': {
    asks: ['burst'],
    obstacle: (seen) => {
      const replies = seen.all('burst');
      if (!replies.every(({ status }) => status === 200 || status === 429)) {
        return 'not every request of the burst got 200 or 429';
      }
      const wait = waitOf(seen) ?? 0;
      if (wait > BURST.seconds) {
        return `the limit counts more than the burst: 429 with Retry-After ${wait}`;
      }
      const took =
        Math.max(...replies.map((it) => it.receivedAt)) -
        Math.min(...replies.map((it) => it.receivedAt));
      const allowedMeanwhile = (took / 1000) * passed(seen);
      return rateOf(seen) !== undefined && rateOf(seen) !== '10/s' && allowedMeanwhile >= 1
        ? `the replies to ${BURST.requests} requests at once took ${Math.round(took)} ms, too long to count them`
        : undefined;
    },
    options: {
      none: (seen) => passed(seen) === BURST.requests,
      '10/s': (seen) => rateOf(seen) === '10/s',
    },
    other: rateOf,
    saw: (seen) =>
      `${BURST.requests} requests at once: ${passed(seen)} were let through; Retry-After ${waitOf(seen) ?? 'absent'}`,
  },
  'unknown-method': {
    asks: ['getOrder'],
    options: {
      405: (seen) =>
        seen.status('getOrder') === 405 && seen.get('getOrder')?.header('allow') !== undefined,
      404: (seen) => seen.status('getOrder') === 404,
    },
    saw: (seen) => `${seen.get('getOrder')} with Allow: ${seen.get('getOrder')?.header('allow')}`,
  },
  'absent-optionals': {
    asks: ['pets100', 'orders'],
    obstacle: (seen) =>
      optionals(seen).length === 0
        ? (seen.whyNoList('pets100', 'orders') ?? 'every listed record has all of its fields')
        : undefined,
    options: {
      omitted: (seen) => optionals(seen).every((value) => value === undefined),
      null: (seen) => optionals(seen).every((value) => value === null),
    },
    saw: () => 'some optional fields are omitted and others are null',
  },
  'date-format': {
    asks: ['orders'],
    obstacle: (seen) =>
      dates(seen).length === 0
        ? (seen.whyNoList('orders') ?? 'no order in GET /store/orders has a shipDate')
        : undefined,
    options: {
      'utc-seconds': (seen) => dates(seen).every((date) => /T\d\d:\d\d:\d\dZ$/.test(date)),
      'utc-millis': (seen) => dates(seen).every((date) => /T\d\d:\d\d:\d\d\.\d{3}Z$/.test(date)),
      offset: (seen) => dates(seen).every((date) => /T\d\d:\d\d:\d\d\+02:00$/.test(date)),
    },
    saw: (seen) => `shipDates such as ${[...new Set(dates(seen))].slice(0, 3).join(', ')}`,
  },
  'json-charset': {
    asks: ['pets100', 'inventory', 'orders'],
    any: true,
    obstacle: (seen) => (jsonTypes(seen).length === 0 ? 'no reply is JSON' : undefined),
    options: {
      bare: (seen) => jsonTypes(seen).every((type) => /^application\/json$/i.test(type)),
      'utf-8': (seen) =>
        jsonTypes(seen).every((type) => /^application\/json\s*;\s*charset="?utf-8"?$/i.test(type)),
    },
    saw: (seen) => `Content-Types ${[...new Set(jsonTypes(seen))].join(', ')}`,
  },
  cors: {
    asks: ['otherOrigin', 'preflight'],
    options: {
      allowed: (seen) =>
        allows(seen.get('otherOrigin')) &&
        allows(seen.get('preflight')) &&
        seen.get('preflight')?.accepted === true,
      absent: (seen) => !allows(seen.get('otherOrigin')) && !allows(seen.get('preflight')),
    },
    saw: (seen) =>
      seen
        .all('otherOrigin', 'preflight')
        .map((it) => `${it} ${allows(it) ? 'with' : 'without'} Access-Control-Allow-Origin`)
        .join(', '),
  },
};

/** The challenge of each 401. */
function challenges(seen: Seen): (string | undefined)[] {
  return seen.everything
    .filter(({ status }) => status === 401)
    .map((it) => it.header('www-authenticate'));
}

function isNumeric(code: string): boolean {
  return /^\d+$/.test(code);
}

/** The codes of all Errors but those that several spellings share, such as `unauthorized`. */
function codes(seen: Seen): string[] {
  return seen.everything.flatMap(({ status, json }) => {
    const code = status >= 400 && isObject(json) ? json.code : undefined;
    return typeof code === 'string' && !/^[a-z0-9]*[a-z][a-z0-9]*$/.test(code) ? [code] : [];
  });
}

/** An exchange and the code of its Error. */
function told(exchange: Exchange): string {
  const { json, reply } = exchange;
  return `${exchange} with ${isObject(json) ? `code ${describe(json.code)}` : describeBody(reply)}`;
}

/** How many requests of the burst were let through. */
function passed(seen: Seen): number {
  return seen.all('burst').filter(({ status }) => status === 200).length;
}

/** A rate per second; undefined if the burst shows none. */
function rateOf(seen: Seen): string | undefined {
  const [count, wait] = [passed(seen), waitOf(seen)];
  if (count === 0 || count === BURST.requests || wait === undefined) return undefined;
  return `${count}/s`;
}

/** The longest `Retry-After` of the burst, in seconds; undefined if a 429 has none. */
function waitOf(seen: Seen): number | undefined {
  const refused = seen.all('burst').filter(({ status }) => status === 429);
  const waits = refused.map((it) => secondsToWait(it.reply));
  return waits.includes(undefined) ? undefined : Math.max(...waits.map(Number));
}

/** The optional fields that a listed record has no value for: undefined or null. */
function optionals(seen: Seen): unknown[] {
  const valueless = (records: readonly JsonRecord[] = [], fields: readonly string[]) =>
    records
      .filter((it) => fields.some((name) => it[name] != null) || idIn(it) !== undefined)
      .flatMap((it) => fields.map((name) => it[name]).filter((value) => value == null));
  return [
    ...valueless(seen.list('pets100'), ['status']),
    ...valueless(seen.list('petsAgain'), ['status']),
    ...valueless(createdRecords(seen), ['status']),
    ...valueless(seen.list('orders'), ORDER_FIELDS),
  ];
}

function createdRecords(seen: Seen): JsonRecord[] {
  return seen.all('create').flatMap(({ record }) => (record === undefined ? [] : [record]));
}

const ORDER_FIELDS = ['id', 'petId', 'quantity', 'shipDate', 'complete'] as const;

function dates(seen: Seen): string[] {
  return (seen.list('orders') ?? []).flatMap(({ shipDate }) =>
    typeof shipDate === 'string' ? [shipDate] : [],
  );
}

function jsonTypes(seen: Seen): string[] {
  return seen.everything.flatMap((it) => {
    const type = it.header('content-type');
    return type !== undefined && /^application\/json\b/i.test(type) ? [type] : [];
  });
}

function allows(exchange: Exchange | undefined): boolean {
  const allowed = exchange?.header('access-control-allow-origin');
  return allowed === '*' || allowed === OTHER_ORIGIN;
}
