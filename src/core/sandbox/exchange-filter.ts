import { OPERATION_IDS } from '../contract/operations.ts';
import { LIMITS } from '../limits.ts';
import { INSTANT } from '../scenario/settings-shapes.ts';
import { bearerToken } from '../service/keyring.ts';
import { BASIS_KINDS, basisReasons } from '../service/reply.ts';
import { object, optional } from '../shape/objects.ts';
import { ANY_TEXT, choice, convert, FLAG, integer, text, type ValueOf } from '../shape/shapes.ts';
import { describe, joinWords, rowNames, suggest } from '../words.ts';
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
const FIELDS = new Map<string, Field>(
  Object.entries({
    method: equal(({ method }) => method),
    status: parseStatus,
    operation: oneOf(OPERATION_IDS, ({ operation }) => [operation]),
    basis: oneOf(BASIS_KINDS, ({ basis }) => [basis.kind]),
    by: (value) => (exchange) =>
      basisReasons(exchange.basis).some((by) => by.toLowerCase().includes(value.toLowerCase())),
    key: parseKey,
    header: parseHeader,
    fault: equal(({ fault }) => fault?.kind),
    finding: oneOf([...FINDING_CODE_NAMES, 'any'], (exchange) =>
      listFindings(exchange).flatMap(({ code }) => [code, 'any']),
    ),
    hold: equal(({ hold }) => hold?.name),
    trace: equal(findTraceId),
    before: compareNumbers((number, bound) => number < bound),
    after: compareNumbers((number, bound) => number > bound),
    is: oneOf(Object.keys(MARKS), (exchange) =>
      Object.keys(MARKS).filter((mark) => MARKS[mark]?.(exchange)),
    ),
  } satisfies Record<string, Field>),
);

const FIELD_NAMES = [...FIELDS.keys()];

function isSame(text: string, value: string): boolean {
  return text.toLowerCase() === value.toLowerCase();
}

function equal(read: (exchange: Exchange) => string | undefined): Field {
  return (value) => (exchange) => isSame(read(exchange) ?? '', value);
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
  const [name = '', part = ''] = value.toLowerCase().split(/=(.*)/s);
  return (exchange) =>
    readTexts(exchange).headers.some(
      (text, at, all) => at % 2 === 1 && all[at - 1] === name && text.includes(part),
    );
}

function compareNumbers(isWithin: (number: number, bound: number) => boolean): Field {
  return (value) => {
    const bound = Number(/^#?(\d{1,15})$/.exec(value)?.[1] ?? Number.NaN);
    if (Number.isNaN(bound)) return { expected: 'the number of an exchange', hint: '' };
    return ({ number }) => isWithin(number, bound);
  };
}

/** In lower case. */
interface SearchedTexts {
  readonly of: Readonly<Exchange>;
  readonly call: string;
  readonly headers: readonly string[];
  readonly parts: readonly string[];
}

/** Of the latest exchange: up to 100 listeners compare it with 10 terms each. */
let searchedTexts: SearchedTexts | undefined;

function readTexts(exchange: Readonly<Exchange>): SearchedTexts {
  if (searchedTexts?.of === exchange) return searchedTexts;
  const { method, target, reasons, request, reply } = exchange;
  const bodies = [request, ...(reply ? [reply] : [])]
    .filter(({ size }) => size <= LIMITS.keptBody.max)
    // What is decoded can be longer.
    .map((message) => bodyText(message)?.slice(0, LIMITS.keptBody.max) ?? '');
  const headers = [...maskHeaders(request.headers), ...maskHeaders(reply?.headers ?? [])];
  const lower = (texts: readonly string[]) => texts.map((text) => text.toLowerCase());
  searchedTexts = {
    of: exchange,
    call: `${method} ${target}`.toLowerCase(),
    headers: lower(headers),
    parts: lower([target, ...reasons, ...bodies]),
  };
  return searchedTexts;
}

function contains(exchange: Readonly<Exchange>, text: string): boolean {
  const wanted = text.toLowerCase();
  return readTexts(exchange).parts.some((part) => part.includes(wanted));
}

function parseWord(word: string): Test {
  const wanted = word.toLowerCase();
  return (exchange) => {
    const { call, headers, parts } = readTexts(exchange);
    return [call, ...headers, ...parts].some((part) => part.includes(wanted));
  };
}

/** `-` for "not", the name of a field, and a phrase or a word. */
const TERM = /(-?)(?:([a-z][\w-]*):)?(?:"([^"]*)"|(\S*))(?=\s|$)|(\S+)/gi;

/** @returns the test of each term, or what is wrong with the first bad one */
function parseTerms(search: string): readonly Test[] | (Mistake & { readonly found: string }) {
  const tests: Test[] = [];
  const { max } = LIMITS.searchTerms;
  for (const [term, not, name, phrase, plain, other] of search.matchAll(TERM)) {
    if (tests.length === max && term !== '') {
      return { expected: `at most ${max} words and fields`, found: 'more', hint: '' };
    }
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
      return { ...made, expected: `${made.expected} after ${name}:`, found: describe(term) };
    }
    tests.push(not ? (exchange) => !made(exchange) : made);
  }
  return tests;
}

const SEARCH = convert(FILTER_TEXT, (search, at, report) => {
  const terms = parseTerms(search);
  if (!('expected' in terms)) return terms;
  const { expected, found, hint } = terms;
  return report({ at, expected, found, hint: () => hint });
});

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

type FilterTests = {
  readonly [Name in keyof Required<ExchangeFilter>]: (
    exchange: Readonly<Exchange>,
    wanted: NonNullable<ExchangeFilter[Name]>,
  ) => boolean;
};

const TESTS: FilterTests = {
  operation: ({ operation }, wanted) => operation === wanted,
  status: ({ status }, wanted) => status === wanted,
  statusClass: ({ status }, wanted) => `${status}`[0] === wanted[0],
  basis: ({ basis }, wanted) => basis.kind === wanted,
  findings: (exchange, wanted) => listFindings(exchange).length > 0 === wanted,
  unmatched: ({ operation }, wanted) => (operation === undefined) === wanted,
  method: ({ method }, wanted) => method === wanted,
  key: hasKey,
  from: ({ at }, wanted) => at >= wanted,
  to: ({ at }, wanted) => at <= wanted,
  after: ({ number }, wanted) => number > wanted,
  before: ({ number }, wanted) => number < wanted,
  trace: (exchange, wanted) => findTraceId(exchange) === wanted,
  hold: ({ hold }, wanted) => hold?.name === wanted,
  held: (exchange, wanted) => isWaiting(exchange) === wanted,
  text: contains,
  search: (exchange, tests) => tests.every((matches) => matches(exchange)),
};

const MEMBERS = rowNames(TESTS);

export function passes(exchange: Readonly<Exchange>, filter: ExchangeFilter): boolean {
  return MEMBERS.every((name) => passesMember(name, exchange, filter));
}

function passesMember<Name extends keyof ExchangeFilter>(
  name: Name,
  exchange: Readonly<Exchange>,
  { [name]: wanted }: ExchangeFilter,
): boolean {
  return wanted === undefined || wanted === null || TESTS[name](exchange, wanted);
}
