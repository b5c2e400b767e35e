import { object } from '../shape/objects.ts';
import { convert, type Shape, type ValueOf } from '../shape/shapes.ts';
import { type Intersection, rowNames } from '../tables.ts';
import { isManual } from './answer.ts';
import type { Exchange } from './exchange.ts';
import { EXCHANGE_FIELDS } from './exchange-fields.ts';
import {
  contains,
  FILTER_TEXT,
  type Filter,
  filter,
  oneOf,
  parseBodyText,
  parseHeader,
  parseTerms,
  type SearchTerm,
  type Test,
} from './search-terms.ts';

const SEARCH: Shape<readonly Test[], string> = convert(FILTER_TEXT, (search, at, report) => {
  const terms = parseTerms(search, TERMS);
  if (!('expected' in terms)) return terms;
  const { expected, found, hint } = terms;
  return report({ at, expected, found, hint: () => hint });
});

/** Filters that test more than one field. */
const WHOLE = {
  text: filter(
    FILTER_TEXT,
    'Exchanges whose target, reasons or bodies contain this, in any case.',
    contains,
  ),
  search: filter(
    SEARCH,
    'Exchanges that match every word and every `field:value` in it, such as `method:DELETE status:4xx -key:demo shipped`.',
    (exchange, tests) => tests.every((matches) => matches(exchange)),
  ),
};

type Row = (typeof EXCHANGE_FIELDS)[keyof typeof EXCHANGE_FIELDS];

const ROWS: readonly Row[] = Object.values(EXCHANGE_FIELDS);

export const FILTER_MEMBERS: Intersection<NonNullable<Row['filters']>> & typeof WHOLE =
  Object.assign({}, ...ROWS.map(({ filters }) => filters), WHOLE);

const FILTERS: readonly (readonly [name: string, filter: Filter])[] =
  Object.entries<Filter>(FILTER_MEMBERS);

/** The words that a search allows after `is:`. Not all of them are filters. */
const MARKS = new Map<string, Test>([
  ...FILTERS.flatMap(([, { mark }]) => (mark ? [[mark.word, mark.is] as const] : [])),
  ['manual', ({ request, replays }) => isManual({ headers: request.headers, replays })],
  ['replay', ({ replays }) => replays !== undefined],
]);

const MARK_WORDS = [...MARKS.keys()].sort();

/** The names that a search allows before a colon, in lower case. */
const TERMS = new Map<string, SearchTerm>([
  ...FILTERS.flatMap(([name, { term }]) => (term === undefined ? [] : [[name, term] as const])),
  ...ROWS.flatMap(({ terms }) => Object.entries(terms)),
  ['body', parseBodyText],
  ['header', parseHeader],
  ['is', oneOf(MARK_WORDS, (of) => MARK_WORDS.filter((word) => MARKS.get(word)?.(of)))],
]);

export const EXCHANGE_FILTER = object(FILTER_MEMBERS);
export type ExchangeFilter = ValueOf<typeof EXCHANGE_FILTER>;

/** The same filters again, typed so that the compiler relates each name to its test. */
const TESTS: {
  readonly [Name in keyof Required<ExchangeFilter>]: {
    readonly test: (exchange: Exchange, wanted: NonNullable<ExchangeFilter[Name]>) => boolean;
  };
} = FILTER_MEMBERS;

const MEMBERS = rowNames(TESTS);

export function passes(exchange: Readonly<Exchange>, filter: ExchangeFilter): boolean {
  return MEMBERS.every((name) => passesMember(name, exchange, filter));
}

function passesMember<Name extends keyof ExchangeFilter>(
  name: Name,
  exchange: Readonly<Exchange>,
  { [name]: wanted }: ExchangeFilter,
): boolean {
  return wanted === undefined || wanted === null || TESTS[name].test(exchange, wanted);
}
