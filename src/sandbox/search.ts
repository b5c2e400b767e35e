import { OPERATION_IDS } from '../contract/operations.ts';
import { LIMITS } from '../limits.ts';
import { BASIS_KINDS, basisReasons } from '../service/reply.ts';
import { convert, text } from '../shape/shapes.ts';
import { describe, joinWords, suggest } from '../words.ts';
import {
  bodyText,
  type Exchange,
  hasKey,
  listFindings,
  maskedKey,
  maskHeaders,
} from './exchange.ts';
import { FINDING_CODE_NAMES } from './finding-codes.ts';

const { max: MAX_FILTER_TEXT } = LIMITS.filterText;

/** A text that records or exchanges are compared with. */
export const FILTER_TEXT = text(
  `a string of at most ${MAX_FILTER_TEXT} characters`,
  new RegExp(`^.{0,${MAX_FILTER_TEXT}}$`, 'su'),
  { maxLength: MAX_FILTER_TEXT },
);

type Test = (exchange: Readonly<Exchange>) => boolean;

/** A value that a field does not take. */
interface Mistake {
  readonly expected: string;
  /** The nearest right word, if there is one. */
  readonly hint: string;
}

/** Makes a test of the text after the colon. */
type Field = (value: string) => Test | Mistake;

/** What `is:` knows. */
const MARKS: Readonly<Record<string, Test>> = {
  held: ({ hold }) => hold !== undefined && hold.ended === undefined,
  replay: ({ replays }) => replays !== undefined,
  unmatched: ({ operation }) => operation === undefined,
};

/** The fields of the search language; their names are in lower case. */
const FIELDS = new Map<string, Field>([
  ['method', (value) => (exchange) => isSame(exchange.method, value)],
  ['status', readStatus],
  ['operation', oneOf(OPERATION_IDS, ({ operation }) => [operation])],
  ['basis', oneOf(BASIS_KINDS, ({ basis }) => [basis.kind])],
  ['by', readDecider],
  ['key', readKey],
  ['header', readHeader],
  ['fault', (value) => (exchange) => isSame(exchange.fault?.kind ?? '', value)],
  [
    'finding',
    oneOf([...FINDING_CODE_NAMES, 'any'], (exchange) =>
      listFindings(exchange).flatMap(({ code }) => [code, 'any']),
    ),
  ],
  ['hold', (value) => (exchange) => isSame(exchange.hold?.name ?? '', value)],
  ['trace', (value) => (exchange) => isSame(exchange.traceId ?? '', value)],
  ['before', readNumber((number, bound) => number < bound)],
  ['after', readNumber((number, bound) => number > bound)],
  ['is', oneOf(Object.keys(MARKS), (exchange) => marksOf(exchange))],
]);

const FIELD_NAMES = [...FIELDS.keys()];

function isSame(text: string, value: string): boolean {
  return text.toLowerCase() === value.toLowerCase();
}

/** @param lower in lower case */
function includes(text: string | undefined, lower: string): boolean {
  return text?.toLowerCase().includes(lower) ?? false;
}

function oneOf(
  words: readonly string[],
  wordsOf: (exchange: Exchange) => readonly unknown[],
): Field {
  return (value) => {
    const word = words.find((known) => isSame(known, value));
    if (word !== undefined) return (exchange) => wordsOf(exchange).includes(word);
    return { expected: joinWords(words, 'or'), hint: suggest(value, words) };
  };
}

function marksOf(exchange: Exchange): readonly string[] {
  return Object.keys(MARKS).filter((mark) => MARKS[mark]?.(exchange));
}

/** A part of an assumption with its option, or of a scenario with the number of its rule. */
function readDecider(value: string): Test {
  const part = value.toLowerCase();
  return ({ basis }) => basisReasons(basis).some((by) => includes(by, part));
}

function readStatus(value: string): Test | Mistake {
  if (/^[1-9](?:\d\d|xx)$/i.test(value)) {
    const start = value.replace(/x/gi, '');
    return ({ status }) => `${status ?? ''}`.startsWith(start);
  }
  if (isSame(value, 'none')) return ({ status }) => status === undefined;
  return { expected: 'a status such as 409 or 4xx, or none', hint: '' };
}

/** The whole key, or what the journal shows of it. */
function readKey(value: string): Test {
  const shown = value.replace(/…$/, '');
  if (shown === 'none') return (exchange) => maskedKey(exchange) === undefined;
  return (exchange) => hasKey(exchange, value) || isSame(maskedKey(exchange) ?? '', `${shown}…`);
}

/** A name, or a name and a part of its value, of the request or of the reply. */
function readHeader(value: string): Test {
  const [name = '', part = ''] = value.toLowerCase().split(/=(.*)/s);
  return ({ request, reply }) =>
    [request.headers, reply?.headers ?? []].some((headers) =>
      maskHeaders(headers).some(
        (text, at, all) =>
          at % 2 === 1 && all[at - 1]?.toLowerCase() === name && includes(text, part),
      ),
    );
}

function readNumber(isWithin: (number: number, bound: number) => boolean): Field {
  return (value) => {
    const bound = Number(/^#?(\d{1,15})$/.exec(value)?.[1] ?? Number.NaN);
    if (Number.isNaN(bound)) return { expected: 'the number of an exchange', hint: '' };
    return ({ number }) => isWithin(number, bound);
  };
}

/** A word: in the method, the target, a header, a reason or a body. */
function readWord(text: string): Test {
  const word = text.toLowerCase();
  return ({ method, target, reasons, request, reply }) =>
    includes(`${method} ${target}`, word) ||
    reasons.some((reason) => includes(reason, word)) ||
    maskHeaders(request.headers).some((header) => includes(header, word)) ||
    maskHeaders(reply?.headers ?? []).some((header) => includes(header, word)) ||
    includes(bodyText(request), word) ||
    includes(reply && bodyText(reply), word);
}

/** `-` for "not", the name of a field, and a phrase or a word. */
const TERM = /(-?)(?:([a-z][\w-]*):)?(?:"([^"]*)"|(\S*))(?=\s|$)|(\S+)/gi;

/** @returns the test of each term, or what is wrong with the first bad one */
function readTerms(search: string): readonly Test[] | (Mistake & { readonly found: string }) {
  const tests: Test[] = [];
  for (const [term, not, name, phrase, plain, other] of search.matchAll(TERM)) {
    const value = phrase ?? plain ?? other ?? '';
    if (name === undefined && value === '') {
      if (not) tests.push(readWord(not));
      continue;
    }
    const field = name === undefined ? readWord : FIELDS.get(name.toLowerCase());
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

/** A search that makes sense, as it was written. */
export const SEARCH = convert(FILTER_TEXT, (search, at, report) => {
  const terms = readTerms(search);
  if (!('expected' in terms)) return search;
  const { expected, found, hint } = terms;
  return report({ at, expected, found, hint: () => hint });
});

/** A search is read for thousands of exchanges in a row. */
let latest: { readonly search: string; readonly tests: readonly Test[] } | undefined;

/** Whether an exchange matches every term of a search that makes sense. */
export function matchesSearch(exchange: Readonly<Exchange>, search: string): boolean {
  if (latest?.search !== search) {
    const terms = readTerms(search);
    latest = { search, tests: 'expected' in terms ? [] : terms };
  }
  return latest.tests.every((matches) => matches(exchange));
}
