import { OPERATION_IDS } from '../contract/operations.ts';
import { LIMITS } from '../limits.ts';
import { INSTANT } from '../scenario/settings-shapes.ts';
import { bearerToken } from '../service/keyring.ts';
import { BASIS_KINDS, basisReasons } from '../service/reply.ts';
import { object, optional } from '../shape/objects.ts';
import { ANY_TEXT, choice, convert, FLAG, integer, text, type ValueOf } from '../shape/shapes.ts';
import { describe, joinWords, suggest } from '../words.ts';
import {
  bodyText,
  type Exchange,
  findTraceId,
  isWaiting,
  listFindings,
  maskedKey,
  maskHeaders,
} from './exchange.ts';
import { BASIS_KIND, COUNT, FINDING_CODE_NAMES, OPERATION } from './report-shapes.ts';

const { max: MAX_FILTER_TEXT } = LIMITS.filterText;

export const FILTER_TEXT = text(
  `a string of at most ${MAX_FILTER_TEXT} characters`,
  new RegExp(`^.{0,${MAX_FILTER_TEXT}}$`, 'su'),
  { maxLength: MAX_FILTER_TEXT },
);

type Test = (exchange: Readonly<Exchange>) => boolean;

interface Mistake {
  readonly expected: string;
  readonly hint: string;
}

type Field = (value: string) => Test | Mistake;

const MARKS: Readonly<Record<string, Test>> = {
  held: isWaiting,
  replay: ({ replays }) => replays !== undefined,
  unmatched: ({ operation }) => operation === undefined,
};

/** The names are in lower case. */
const FIELDS = new Map<string, Field>([
  [
    'method',
    (value) =>
      ({ method }) =>
        isSame(method, value),
  ],
  ['status', parseStatus],
  ['operation', oneOf(OPERATION_IDS, ({ operation }) => [operation])],
  ['basis', oneOf(BASIS_KINDS, ({ basis }) => [basis.kind])],
  [
    'by',
    (value) =>
      ({ basis }) =>
        basisReasons(basis).some((by) => includes(by, value)),
  ],
  ['key', parseKey],
  ['header', parseHeader],
  [
    'fault',
    (value) =>
      ({ fault }) =>
        isSame(fault?.kind ?? '', value),
  ],
  [
    'finding',
    oneOf([...FINDING_CODE_NAMES, 'any'], (exchange) =>
      listFindings(exchange).flatMap(({ code }) => [code, 'any']),
    ),
  ],
  [
    'hold',
    (value) =>
      ({ hold }) =>
        isSame(hold?.name ?? '', value),
  ],
  ['trace', (value) => (exchange) => isSame(findTraceId(exchange) ?? '', value)],
  ['before', compareNumbers((number, bound) => number < bound)],
  ['after', compareNumbers((number, bound) => number > bound)],
  [
    'is',
    oneOf(Object.keys(MARKS), (exchange) =>
      Object.keys(MARKS).filter((mark) => MARKS[mark]?.(exchange)),
    ),
  ],
]);

const FIELD_NAMES = [...FIELDS.keys()];

function isSame(text: string, value: string): boolean {
  return text.toLowerCase() === value.toLowerCase();
}

function includes(text: string | undefined, part: string): boolean {
  return text?.toLowerCase().includes(part.toLowerCase()) ?? false;
}

function oneOf(
  words: readonly string[],
  listWords: (exchange: Exchange) => readonly unknown[],
): Field {
  return (value) => {
    const word = words.find((known) => isSame(known, value));
    if (word !== undefined) return (exchange) => listWords(exchange).includes(word);
    return { expected: joinWords(words, 'or'), hint: suggest(value, words) };
  };
}

function parseStatus(value: string): Test | Mistake {
  if (/^[1-9](?:\d\d|xx)$/i.test(value)) {
    const start = value.replace(/x/gi, '');
    return ({ status }) => `${status ?? ''}`.startsWith(start);
  }
  if (isSame(value, 'none')) return ({ status }) => status === undefined;
  return { expected: 'a status such as 409 or 4xx, or none', hint: '' };
}

/** The whole key, or what the journal shows of it. */
function parseKey(value: string): Test {
  const shown = value.replace(/…$/, '');
  if (shown === 'none') return (exchange) => maskedKey(exchange) === undefined;
  return (exchange) => hasKey(exchange, value) || isSame(maskedKey(exchange) ?? '', `${shown}…`);
}

function hasKey({ authorization }: Exchange, key: string): boolean {
  return bearerToken(authorization) === bearerToken(`Bearer ${key}`);
}

function parseHeader(value: string): Test {
  const [name = '', part = ''] = value.split(/=(.*)/s);
  return ({ request, reply }) =>
    [request.headers, reply?.headers ?? []].some((headers) =>
      maskHeaders(headers).some(
        (text, at, all) => at % 2 === 1 && isSame(all[at - 1] ?? '', name) && includes(text, part),
      ),
    );
}

function compareNumbers(isWithin: (number: number, bound: number) => boolean): Field {
  return (value) => {
    const bound = Number(/^#?(\d{1,15})$/.exec(value)?.[1] ?? Number.NaN);
    if (Number.isNaN(bound)) return { expected: 'the number of an exchange', hint: '' };
    return ({ number }) => isWithin(number, bound);
  };
}

function contains({ target, reasons, request, reply }: Exchange, text: string): boolean {
  const parts = [target, ...reasons, bodyText(request), reply && bodyText(reply)];
  return parts.some((part) => includes(part, text));
}

function parseWord(word: string): Test {
  return (exchange) => {
    const { method, target, request, reply } = exchange;
    const headers = [...maskHeaders(request.headers), ...maskHeaders(reply?.headers ?? [])];
    return (
      includes(`${method} ${target}`, word) ||
      headers.some((header) => includes(header, word)) ||
      contains(exchange, word)
    );
  };
}

/** `-` for "not", the name of a field, and a phrase or a word. */
const TERM = /(-?)(?:([a-z][\w-]*):)?(?:"([^"]*)"|(\S*))(?=\s|$)|(\S+)/gi;

/** @returns the test of each term, or what is wrong with the first bad one */
function parseTerms(search: string): readonly Test[] | (Mistake & { readonly found: string }) {
  const tests: Test[] = [];
  for (const [term, not, name, phrase, plain, other] of search.matchAll(TERM)) {
    const value = phrase ?? plain ?? other ?? '';
    if (name === undefined && value === '') {
      if (not) tests.push(parseWord(not));
      continue;
    }
    const field = name === undefined ? parseWord : FIELDS.get(name.toLowerCase());
    if (field === undefined) {
      const expected = `a field (${joinWords(FIELD_NAMES, 'or')}), or a text with a colon in quotes`;
      return { expected, found: describe(`${name}:`), hint: suggest(name ?? '', FIELD_NAMES) };
    }
    const made = value === '' ? { expected: 'a value', hint: '' } : field(value);
    if (typeof made !== 'function') {
      return {
        expected: `${made.expected} after ${name}:`,
        found: describe(term),
        hint: made.hint,
      };
    }
    tests.push(not ? (exchange) => !made(exchange) : made);
  }
  return tests;
}

const SEARCH = convert(FILTER_TEXT, (search, at, report) => {
  const terms = parseTerms(search);
  if (!('expected' in terms)) return search;
  const { expected, found, hint } = terms;
  return report({ at, expected, found, hint: () => hint });
});

let latest: { readonly search: string; readonly tests: readonly Test[] } | undefined;

function matchesSearch(exchange: Readonly<Exchange>, search: string): boolean {
  if (latest?.search !== search) {
    const terms = parseTerms(search);
    latest = { search, tests: 'expected' in terms ? [] : terms };
  }
  return latest.tests.every((matches) => matches(exchange));
}

const STATUS_CLASSES = ['1xx', '2xx', '3xx', '4xx', '5xx'] as const;

export const FILTER_MEMBERS = {
  operation: optional(OPERATION, 'Exchanges of this operation.'),
  status: optional(integer(100, 999, 'an HTTP status'), 'Exchanges with this status.'),
  statusClass: optional(choice(STATUS_CLASSES), 'Exchanges with a status of this class.'),
  basis: optional(BASIS_KIND, 'Exchanges whose reply has this basis.'),
  findings: optional(FLAG, 'Exchanges with findings; `false` for those without.'),
  unmatched: optional(
    FLAG,
    'Exchanges that reached no operation; `false` for those that reached one.',
  ),
  method: optional(ANY_TEXT, 'Exchanges with this HTTP method.'),
  key: optional(FILTER_TEXT, 'Exchanges with this API key (the whole key).'),
  from: optional(INSTANT, 'Exchanges at or after this instant.'),
  to: optional(INSTANT, 'Exchanges at or before this instant.'),
  after: optional(COUNT, 'Exchanges with a higher number.'),
  before: optional(COUNT, 'Exchanges with a lower number.'),
  trace: optional(ANY_TEXT, 'Exchanges of this trace: the trace id of their `traceparent`.'),
  hold: optional(ANY_TEXT, 'Exchanges whose reply is or was held back under this name.'),
  held: optional(FLAG, 'Exchanges whose reply is held back now; `false` for the others.'),
  text: optional(
    FILTER_TEXT,
    'Exchanges whose target, reasons or bodies contain this, in any case.',
  ),
  search: optional(
    SEARCH,
    'Exchanges that match every word and every `field:value` in it, such as `method:DELETE status:4xx -key:demo shipped`.',
  ),
};

export const EXCHANGE_FILTER = object(FILTER_MEMBERS);
export type ExchangeFilter = ValueOf<typeof EXCHANGE_FILTER>;

type FilterTest = (exchange: Readonly<Exchange>, filter: ExchangeFilter) => boolean;

function test<Name extends keyof ExchangeFilter>(
  name: Name,
  matches: (exchange: Readonly<Exchange>, wanted: NonNullable<ExchangeFilter[Name]>) => boolean,
): FilterTest {
  return (exchange, { [name]: wanted }) =>
    wanted === undefined || wanted === null || matches(exchange, wanted);
}

const TESTS: { readonly [Name in keyof ExchangeFilter]-?: FilterTest } = {
  operation: test('operation', ({ operation }, wanted) => operation === wanted),
  status: test('status', ({ status }, wanted) => status === wanted),
  statusClass: test('statusClass', (exchange, wanted) => `${exchange.status}`[0] === wanted[0]),
  basis: test('basis', ({ basis }, wanted) => basis.kind === wanted),
  findings: test('findings', (exchange, wanted) => listFindings(exchange).length > 0 === wanted),
  unmatched: test('unmatched', ({ operation }, wanted) => (operation === undefined) === wanted),
  method: test('method', ({ method }, wanted) => method === wanted),
  key: test('key', hasKey),
  from: test('from', ({ at }, wanted) => at >= wanted),
  to: test('to', ({ at }, wanted) => at <= wanted),
  after: test('after', ({ number }, wanted) => number > wanted),
  before: test('before', ({ number }, wanted) => number < wanted),
  trace: test('trace', (exchange, wanted) => findTraceId(exchange) === wanted),
  hold: test('hold', ({ hold }, wanted) => hold?.name === wanted),
  held: test('held', (exchange, wanted) => isWaiting(exchange) === wanted),
  text: test('text', contains),
  search: test('search', matchesSearch),
};

const ALL_TESTS = Object.values(TESTS);

export function passes(exchange: Readonly<Exchange>, filter: ExchangeFilter): boolean {
  return ALL_TESTS.every((matches) => matches(exchange, filter));
}
