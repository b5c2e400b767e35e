import { INSTANT } from '../scenario/time-shapes.ts';
import { object, optional } from '../shape/objects.ts';
import { ANY_TEXT, choice, FLAG, integer, type ValueOf } from '../shape/shapes.ts';
import { contains, type Exchange, hasKey, listFindings } from './exchange.ts';
import { BASIS_KIND, COUNT, OPERATION } from './report-shapes.ts';
import { FILTER_TEXT, matchesSearch, SEARCH } from './search.ts';

const STATUS_CLASSES = ['1xx', '2xx', '3xx', '4xx', '5xx'] as const;

/** The members of a filter. */
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
/** Selects exchanges: each given member must match. */
export type ExchangeFilter = ValueOf<typeof EXCHANGE_FILTER>;

type FilterTest = (exchange: Readonly<Exchange>, filter: ExchangeFilter) => boolean;

/** Tests one member of a filter, if that is given. */
function test<Name extends keyof ExchangeFilter>(
  name: Name,
  matches: (exchange: Readonly<Exchange>, wanted: NonNullable<ExchangeFilter[Name]>) => boolean,
): FilterTest {
  return (exchange, { [name]: wanted }) =>
    wanted === undefined || wanted === null || matches(exchange, wanted);
}

/** A member without a test does not compile. */
const TESTS: { readonly [Name in keyof ExchangeFilter]-?: FilterTest } = {
  operation: test('operation', ({ operation }, wanted) => operation === wanted),
  status: test('status', ({ status }, wanted) => status === wanted),
  statusClass: test('statusClass', ({ status }, wanted) =>
    `${status}`.startsWith(wanted.charAt(0))),
  basis: test('basis', ({ basis }, wanted) => basis.kind === wanted),
  findings: test('findings', (exchange, wanted) => listFindings(exchange).length > 0 === wanted),
  unmatched: test('unmatched', ({ operation }, wanted) => (operation === undefined) === wanted),
  method: test('method', ({ method }, wanted) => method === wanted),
  key: test('key', hasKey),
  from: test('from', ({ at }, wanted) => at >= wanted),
  to: test('to', ({ at }, wanted) => at <= wanted),
  after: test('after', ({ number }, wanted) => number > wanted),
  before: test('before', ({ number }, wanted) => number < wanted),
  trace: test('trace', ({ traceId }, wanted) => traceId === wanted),
  hold: test('hold', ({ hold }, wanted) => hold?.name === wanted),
  held: test('held', ({ hold }, wanted) => (hold !== undefined && !hold.ended) === wanted),
  text: test('text', contains),
  search: test('search', matchesSearch),
};

const ALL_TESTS = Object.values(TESTS);

/** Whether an exchange matches a filter: each of its members must match. */
export function passes(exchange: Readonly<Exchange>, filter: ExchangeFilter): boolean {
  return ALL_TESTS.every((matches) => matches(exchange, filter));
}
