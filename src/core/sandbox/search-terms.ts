import { LIMITS } from '../limits.ts';
import { bearerToken } from '../service/keyring.ts';
import { type Member, optional } from '../shape/objects.ts';
import { ANY_TEXT, choice, FLAG, type Shape, text } from '../shape/shapes.ts';
import { describe, joinWords, suggest } from '../words.ts';
import { bodyText, type Exchange, maskedKey, maskHeaders } from './exchange.ts';

export type Test = (exchange: Readonly<Exchange>) => boolean;

interface Mistake {
  readonly expected: string;
  readonly hint: string;
}

/** Makes a test of the value that follows `name:` in a search, or says what is wrong with it. */
export type SearchTerm = (value: string) => Test | Mistake;

export const FILTER_TEXT = text(
  `a string of at most ${LIMITS.filterText} characters`,
  new RegExp(`^.{0,${LIMITS.filterText}}$`, 'su'),
  { maxLength: LIMITS.filterText },
);

/** A filter of exchanges: its parameter, its test, and its term in a search, if it has one. */
export interface Filter<T = never, In = unknown> extends Member<unknown, false, In> {
  readonly test: (exchange: Exchange, wanted: T) => boolean;
  readonly term: SearchTerm | undefined;
  /** The word after `is:` in a search that means the same. */
  readonly mark?: { readonly word: string; readonly is: Test };
}

export function filter<T, In>(
  shape: Shape<T, In>,
  description: string,
  test: Filter<T>['test'],
  term?: SearchTerm,
) {
  return { ...optional(shape, description), test, term };
}

/** @param word what means the same after `is:` in a search */
export function flag(description: string, is: Test, word?: string) {
  const member = filter(FLAG, description, (exchange, wanted) => is(exchange) === wanted);
  return { ...member, ...(word !== undefined && { mark: { word, is } }) };
}

/** A text must match exactly in a filter, in any case in a search. */
export function textFilter(description: string, read: (exchange: Exchange) => string | undefined) {
  return filter(ANY_TEXT, description, (of, wanted) => read(of) === wanted, equal(read));
}

export function wordFilter<const Word extends string>(
  words: readonly Word[],
  description: string,
  read: (exchange: Exchange) => Word | undefined,
) {
  const term = oneOf(words, (exchange) => [read(exchange)]);
  return filter(choice(words), description, (of, wanted) => read(of) === wanted, term);
}

export function isSameText(text: string, value: string): boolean {
  return text.toLowerCase() === value.toLowerCase();
}

export function equal(read: (exchange: Exchange) => string | undefined): SearchTerm {
  return (value) => (exchange) => isSameText(read(exchange) ?? '', value);
}

export function contained(read: (exchange: Exchange) => readonly string[]): SearchTerm {
  return (value) => (exchange) =>
    read(exchange).some((text) => text.toLowerCase().includes(value.toLowerCase()));
}

export function oneOf(
  words: readonly string[],
  listWords: (exchange: Exchange) => readonly unknown[],
): SearchTerm {
  return (value) => {
    const word = words.find((known) => isSameText(known, value));
    if (word !== undefined) return (exchange) => listWords(exchange).includes(word);
    return { expected: joinWords(words, 'or'), hint: suggest(value, words) };
  };
}

export function parseStatus(value: string): Test | Mistake {
  if (/^[1-9](?:\d\d|xx)$/i.test(value)) {
    const start = value.replace(/x/gi, '');
    return ({ status }) => `${status ?? ''}`.startsWith(start);
  }
  if (isSameText(value, 'none')) return ({ status }) => status === undefined;
  return { expected: 'a status such as 409 or 4xx, or none', hint: '' };
}

/** Matches a whole key, or its masked form in the journal. */
export function parseKey(value: string): Test {
  const shown = value.replace(/…$/, '');
  if (shown === 'none') return (exchange) => maskedKey(exchange) === undefined;
  return (exchange) =>
    hasKey(exchange, value) || isSameText(maskedKey(exchange) ?? '', `${shown}…`);
}

export function hasKey({ authorization }: Exchange, key: string): boolean {
  return bearerToken(authorization) === bearerToken(`Bearer ${key}`);
}

export function parseHeader(value: string): Test {
  const [name = '', part = ''] = value.toLowerCase().split(/=(.*)/s);
  return (exchange) =>
    readTexts(exchange).headers.some(
      (text, at, all) => at % 2 === 1 && all[at - 1] === name && text.includes(part),
    );
}

export function parseBodyText(value: string): Test {
  const wanted = value.toLowerCase();
  return (exchange) => readTexts(exchange).bodies.some((text) => text.includes(wanted));
}

export function compareNumbers(isWithin: (number: number, bound: number) => boolean): SearchTerm {
  return (value) => {
    const bound = Number(/^#?(\d{1,15})$/.exec(value)?.[1] ?? Number.NaN);
    if (Number.isNaN(bound)) return { expected: 'the number of an exchange', hint: '' };
    return ({ number }) => isWithin(number, bound);
  };
}

/** The texts of an exchange that a search compares, in lower case. */
interface SearchedTexts {
  readonly of: Readonly<Exchange>;
  readonly call: string;
  readonly headers: readonly string[];
  readonly parts: readonly string[];
  readonly bodies: readonly string[];
}

/** A cache for the latest exchange: up to 100 listeners compare it with 10 terms each. */
let searchedTexts: SearchedTexts | undefined;

function readTexts(exchange: Readonly<Exchange>): SearchedTexts {
  if (searchedTexts?.of === exchange) return searchedTexts;
  const { method, target, status = '', reasons, request, reply } = exchange;
  const bodies = [request, ...(reply ? [reply] : [])]
    .filter(({ size }) => size <= LIMITS.keptBody)
    // A decoded body can be longer than the journal's limit.
    .map((message) => bodyText(message)?.slice(0, LIMITS.keptBody).toLowerCase() ?? '');
  const headers = [...maskHeaders(request.headers), ...maskHeaders(reply?.headers ?? [])];
  const lower = (texts: readonly string[]) => texts.map((text) => text.toLowerCase());
  searchedTexts = {
    of: exchange,
    call: `${method} ${target} ${status}`.toLowerCase(),
    headers: lower(headers),
    parts: [...lower([target, ...reasons]), ...bodies],
    bodies,
  };
  return searchedTexts;
}

export function contains(exchange: Readonly<Exchange>, text: string): boolean {
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

/** A term: an optional `-` for "not", an optional field name, then a word or a quoted phrase. */
const TERM = /(-?)(?:([a-z][\w-]*):)?(?:"([^"]*)"|(\S*))(?=\s|$)|(\S+)/gi;

/**
 * @param terms the known terms by name, in lower case
 * @returns a test for each term, or what is wrong with the first invalid one
 */
export function parseTerms(
  search: string,
  terms: ReadonlyMap<string, SearchTerm>,
): readonly Test[] | (Mistake & { readonly found: string }) {
  const tests: Test[] = [];
  for (const [term, not, name, phrase, plain, other] of search.matchAll(TERM)) {
    if (tests.length === LIMITS.searchTerms && term !== '') {
      return {
        expected: `at most ${LIMITS.searchTerms} words and fields`,
        found: 'more',
        hint: '',
      };
    }
    const value = phrase ?? plain ?? other ?? '';
    if (name === undefined && value === '') {
      if (not) tests.push(parseWord(not));
      continue;
    }
    const parse = name === undefined ? parseWord : terms.get(name.toLowerCase());
    if (parse === undefined) {
      const names = [...terms.keys()];
      const expected = `a field (${joinWords(names, 'or')}), or a text with a colon in quotes`;
      return { expected, found: describe(`${name}:`), hint: suggest(name ?? '', names) };
    }
    const made = value === '' ? { expected: 'a value', hint: '' } : parse(value);
    if (typeof made !== 'function') {
      return { ...made, expected: `${made.expected} after ${name}:`, found: describe(term) };
    }
    tests.push(not ? (exchange) => !made(exchange) : made);
  }
  return tests;
}
