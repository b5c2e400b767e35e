import { OPERATION_IDS } from '../contract/operations.ts';
import { LIMITS } from '../limits.ts';
import { INSTANT } from '../scenario/settings-shapes.ts';
import { BASIS_KINDS, basisReasons } from '../service/reply.ts';
import { object, optional } from '../shape/objects.ts';
import {
  ANY_TEXT,
  choice,
  convert,
  FLAG,
  integer,
  type Shape,
  text,
  type ValueOf,
} from '../shape/shapes.ts';
import { rowNames } from '../words.ts';
import { type Exchange, findTraceId, isWaiting, listFindings } from './exchange.ts';
import { BASIS_KIND, COUNT, FINDING_CODE_NAMES, OPERATION } from './report-shapes.ts';
import {
  compareNumbers,
  contains,
  equal,
  hasKey,
  oneOf,
  parseHeader,
  parseKey,
  parseStatus,
  parseTerms,
  type SearchTerm,
  type Test,
} from './search-terms.ts';

const { max: MAX_FILTER_TEXT } = LIMITS.filterText;

export const FILTER_TEXT = text(
  `a string of at most ${MAX_FILTER_TEXT} characters`,
  new RegExp(`^.{0,${MAX_FILTER_TEXT}}$`, 'su'),
  { maxLength: MAX_FILTER_TEXT },
);

const SEARCH: Shape<readonly Test[], string> = convert(FILTER_TEXT, (search, at, report) => {
  const terms = parseTerms(search, TERMS);
  if (!('expected' in terms)) return terms;
  const { expected, found, hint } = terms;
  return report({ at, expected, found, hint: () => hint });
});

const STATUS_CLASSES = ['1xx', '2xx', '3xx', '4xx', '5xx'] as const;

interface Tested<T> {
  readonly test: (exchange: Readonly<Exchange>, wanted: T) => boolean;
}

/** A member of a filter, its test, and the same in a search, if that can name it. */
function field<T, In>(
  shape: Shape<T, In>,
  description: string,
  test: Tested<T>['test'],
  term?: SearchTerm,
) {
  return { ...optional(shape, description), test, term };
}

function flag(description: string, is: Test) {
  return field(FLAG, description, (exchange, wanted) => is(exchange) === wanted);
}

/** Exact in a filter; in any case in a search. */
function textField(description: string, read: (exchange: Exchange) => string | undefined) {
  return field(ANY_TEXT, description, (of, wanted) => read(of) === wanted, equal(read));
}

function numberField(description: string, isWithin: (number: number, bound: number) => boolean) {
  const term = compareNumbers(isWithin);
  return field(COUNT, description, ({ number }, bound) => isWithin(number, bound), term);
}

const isUnmatched: Test = ({ operation }) => operation === undefined;

export const FILTER_MEMBERS = {
  operation: field(
    OPERATION,
    'Exchanges of this operation.',
    ({ operation }, wanted) => operation === wanted,
    oneOf(OPERATION_IDS, ({ operation }) => [operation]),
  ),
  status: field(
    integer(100, 999, 'an HTTP status'),
    'Exchanges with this status.',
    ({ status }, wanted) => status === wanted,
    parseStatus,
  ),
  statusClass: field(
    choice(STATUS_CLASSES),
    'Exchanges with a status of this class.',
    ({ status }, wanted) => `${status}`[0] === wanted[0],
  ),
  basis: field(
    BASIS_KIND,
    'Exchanges whose reply has this basis.',
    ({ basis }, wanted) => basis.kind === wanted,
    oneOf(BASIS_KINDS, ({ basis }) => [basis.kind]),
  ),
  findings: flag(
    'Exchanges with findings; `false` for those without.',
    (exchange) => listFindings(exchange).length > 0,
  ),
  unmatched: flag(
    'Exchanges that reached no operation; `false` for those that reached one.',
    isUnmatched,
  ),
  method: textField('Exchanges with this HTTP method.', ({ method }) => method),
  key: field(FILTER_TEXT, 'Exchanges with this API key (the whole key).', hasKey, parseKey),
  from: field(INSTANT, 'Exchanges at or after this instant.', ({ at }, wanted) => at >= wanted),
  to: field(INSTANT, 'Exchanges at or before this instant.', ({ at }, wanted) => at <= wanted),
  after: numberField('Exchanges with a higher number.', (number, bound) => number > bound),
  before: numberField('Exchanges with a lower number.', (number, bound) => number < bound),
  trace: textField('Exchanges of this trace: the trace id of their `traceparent`.', findTraceId),
  hold: textField(
    'Exchanges whose reply is or was held back under this name.',
    ({ hold }) => hold?.name,
  ),
  held: flag('Exchanges whose reply is held back now; `false` for the others.', isWaiting),
  text: field(
    FILTER_TEXT,
    'Exchanges whose target, reasons or bodies contain this, in any case.',
    contains,
  ),
  search: field(
    SEARCH,
    'Exchanges that match every word and every `field:value` in it, such as `method:DELETE status:4xx -key:demo shipped`.',
    (exchange, tests) => tests.every((matches) => matches(exchange)),
  ),
};

const MARKS: Readonly<Record<string, Test>> = {
  held: isWaiting,
  replay: ({ replays }) => replays !== undefined,
  unmatched: isUnmatched,
};

/** What only a search can name. */
const MORE_TERMS: Readonly<Record<string, SearchTerm>> = {
  by: (value) => (exchange) =>
    basisReasons(exchange.basis).some((by) => by.toLowerCase().includes(value.toLowerCase())),
  header: parseHeader,
  fault: equal(({ fault }) => fault?.kind),
  finding: oneOf([...FINDING_CODE_NAMES, 'any'], (exchange) =>
    listFindings(exchange).flatMap(({ code }) => [code, 'any']),
  ),
  is: oneOf(Object.keys(MARKS), (exchange) =>
    Object.keys(MARKS).filter((mark) => MARKS[mark]?.(exchange)),
  ),
};

/** By name, in lower case. */
const TERMS = new Map<string, SearchTerm>([
  ...Object.entries(FILTER_MEMBERS).flatMap(([name, { term }]) =>
    term === undefined ? [] : [[name, term] as const],
  ),
  ...Object.entries(MORE_TERMS),
]);

export const EXCHANGE_FILTER = object(FILTER_MEMBERS);
export type ExchangeFilter = ValueOf<typeof EXCHANGE_FILTER>;

/** The same rows, as the compiler follows the type of a member to its test. */
const TESTS: {
  readonly [Name in keyof Required<ExchangeFilter>]: Tested<NonNullable<ExchangeFilter[Name]>>;
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
