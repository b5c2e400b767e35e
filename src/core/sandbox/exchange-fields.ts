import { DATE_TIME } from '../contract/date-time.ts';
import { OPERATION_IDS } from '../contract/operations.ts';
import { BASIS_KINDS, findOffContract, groundsOf } from '../service/reply.ts';
import { INSTANT } from '../service/settings-shapes.ts';
import { type InputsOf, type Member, object, optional, required } from '../shape/objects.ts';
import { ANY_TEXT, choice, FLAG, integer, list, number } from '../shape/shapes.ts';
import { rowNames } from '../tables.ts';
import { roundDuration } from '../words.ts';
import {
  describeHold,
  type Exchange,
  findTraceId,
  HOLD_ENDS,
  isHeld,
  listFindings,
  maskedKey,
  maskTarget,
} from './exchange.ts';
import {
  BASIS_KIND,
  CLOCK_MOVED,
  COUNT,
  EXPECTED_REPLY,
  FINDING_CODE_NAMES,
  FINDING_CODES,
  NOTED_MEMBERS,
  OPERATION,
  TEXTS,
} from './report-shapes.ts';
import {
  compareNumbers,
  contained,
  equal,
  FILTER_TEXT,
  type Filter,
  filter,
  flag,
  hasKey,
  isSameText,
  oneOf,
  parseKey,
  parseStatus,
  type SearchTerm,
  textFilter,
  wordFilter,
} from './search-terms.ts';

/**
 * Defines a member of an exchange in JSON.
 *
 * @param filters query parameters of `GET /requests`. A search can use those with a term.
 * @param terms what only a search can use
 */
function field<
  T,
  R extends boolean,
  In,
  Filters extends Readonly<Record<string, Filter>> = Record<never, never>,
>(
  member: Member<T, R, In>,
  read: (exchange: Exchange) => NoInfer<In> | (R extends true ? never : undefined),
  filters?: Filters,
  terms: Readonly<Record<string, SearchTerm>> = {},
) {
  return { ...member, read, filters, terms };
}

const MILLISECONDS = number(0, Number.MAX_VALUE, 'milliseconds');

const STATUS_CLASSES = ['1xx', '2xx', '3xx', '4xx', '5xx'] as const;

function numberFilter(description: string, isWithin: (number: number, bound: number) => boolean) {
  const isSelected = ({ number }: Exchange, bound: number) => isWithin(number, bound);
  return filter(COUNT, description, isSelected, compareNumbers(isWithin));
}

/**
 * A row for each field of an exchange. The journal, the stream, observers, the log, their JSON
 * Schema, the filters and the search language follow from it.
 */
export const EXCHANGE_FIELDS = {
  number: field(
    required(COUNT, 'Counted from 1, dropped exchanges included.'),
    ({ number }) => number,
    {
      after: numberFilter('Exchanges with a higher number.', (number, bound) => number > bound),
      before: numberFilter('Exchanges with a lower number.', (number, bound) => number < bound),
    },
  ),
  at: field(
    required(DATE_TIME, "When it was answered, by the sandbox's clock."),
    ({ at }) => new Date(at).toISOString(),
    {
      from: filter(INSTANT, 'Exchanges at or after this instant.', (it, from) => it.at >= from),
      to: filter(INSTANT, 'Exchanges at or before this instant.', (it, to) => it.at <= to),
    },
  ),
  clockMoved: field(CLOCK_MOVED, ({ clockMoved }) => clockMoved),
  method: field(required(ANY_TEXT, 'The method of the request.'), ({ method }) => method, {
    method: textFilter('Exchanges with this HTTP method.', ({ method }) => method),
  }),
  target: field(
    required(ANY_TEXT, 'The path and the query of the request.'),
    ({ target }) => maskTarget(target),
    {},
    { path: contained(({ target }) => [target]) },
  ),
  operation: field(
    optional(OPERATION, 'The operation, if the request reached one.'),
    ({ operation }) => operation,
    {
      operation: wordFilter(
        OPERATION_IDS,
        'Exchanges of this operation.',
        ({ operation }) => operation,
      ),
      unmatched: flag(
        'Exchanges that reached no operation; `false` for those that reached one.',
        ({ operation }) => operation === undefined,
        'unmatched',
      ),
    },
  ),
  traceId: field(
    optional(ANY_TEXT, 'The trace that its `traceparent` names, if it names one.'),
    findTraceId,
    {
      trace: textFilter(
        'Exchanges of this trace: the trace id of their `traceparent`.',
        findTraceId,
      ),
    },
  ),
  replays: field(
    optional(COUNT, 'The number of the exchange that it replays.'),
    ({ replays }) => replays,
  ),
  key: field(optional(ANY_TEXT, 'The first characters of the API key.'), maskedKey, {
    key: filter(FILTER_TEXT, 'Exchanges with this API key (the whole key).', hasKey, parseKey),
  }),
  status: field(optional(COUNT, 'Left out if the client received none.'), ({ status }) => status, {
    status: filter(
      integer(100, 999, 'an HTTP status such as 409 (statusClass takes 4xx)'),
      'Exchanges with this status.',
      ({ status }, wanted) => status === wanted,
      parseStatus,
    ),
    statusClass: filter(
      choice(STATUS_CLASSES),
      'Exchanges with a status of this class.',
      ({ status }, wanted) => `${status}`[0] === wanted[0],
    ),
  }),
  fault: field(
    optional(ANY_TEXT, 'The fault that replaced or spoilt the reply.'),
    ({ fault }) => fault?.kind,
    {},
    { fault: equal(({ fault }) => fault?.kind) },
  ),
  delay: field(
    required(MILLISECONDS, 'How long the reply was delayed, in milliseconds.'),
    ({ delay }) => delay,
  ),
  hold: field(
    optional(
      object({
        name: required(ANY_TEXT, 'The name of the hold; `default` for `hold: true`.'),
        ended: optional(choice(HOLD_ENDS), 'Why it ended; left out while the reply is held back.'),
        lasted: optional(MILLISECONDS, 'How long the reply was held back, in milliseconds.'),
      }),
      'Set if a rule holds or held the reply back.',
    ),
    ({ hold }) => hold && describeHold(hold),
    {
      hold: filter(
        ANY_TEXT,
        'Exchanges whose reply is or was held back under this name.',
        ({ hold }, name) => hold?.name === name,
        (value) =>
          isSameText(value, 'any')
            ? ({ hold }) => hold !== undefined
            : ({ hold }) => hold !== undefined && isSameText(hold.name, value),
      ),
      held: flag('Exchanges whose reply is held back now; `false` for the others.', isHeld, 'held'),
    },
  ),
  duration: field(
    required(MILLISECONDS, 'Milliseconds from the request to its reply, delay included.'),
    ({ duration }) => roundDuration(duration),
  ),
  basis: field(required(BASIS_KIND, 'What the reply rests on.'), ({ basis }) => basis.kind, {
    basis: wordFilter(
      BASIS_KINDS,
      'Exchanges whose reply has this basis.',
      ({ basis }) => basis.kind,
    ),
  }),
  by: field(
    required(TEXTS, 'The assumptions or the rule that the basis names.'),
    ({ basis }) => groundsOf(basis),
    {},
    { by: contained(({ basis }) => groundsOf(basis)) },
  ),
  offContract: field(
    optional(
      object({
        problems: required(TEXTS, 'What the document does not allow in the reply.'),
        declared: required(FLAG, 'Whether the scenario declares it.'),
      }),
      'Set if a rule has made or changed the reply so that the document does not allow it.',
    ),
    ({ basis }) => {
      const found = findOffContract(basis);
      return found && { problems: found.problems, declared: found.declared };
    },
    {
      offContract: flag(
        'Exchanges with an off-contract reply; `false` for the others.',
        ({ basis }) => findOffContract(basis) !== undefined,
        'off-contract',
      ),
    },
  ),
  why: field(required(TEXTS, 'The reasons in words, the nearest first.'), ({ reasons }) => reasons),
  findings: field(
    required(
      list(object(NOTED_MEMBERS)),
      'What the client should not do against the real service.',
    ),
    (exchange) =>
      listFindings(exchange).map((finding) => ({
        ...finding,
        advice: FINDING_CODES[finding.code],
      })),
    {
      findings: flag(
        'Exchanges with findings; `false` for those without.',
        (exchange) => listFindings(exchange).length > 0,
      ),
    },
    {
      finding: oneOf([...FINDING_CODE_NAMES, 'any'], (exchange) =>
        listFindings(exchange).flatMap(({ code }) => [code, 'any']),
      ),
    },
  ),
  expected: field(
    optional(
      EXPECTED_REPLY,
      'What the mock would have answered in place of the deployment; left out where it cannot know.',
    ),
    ({ expected }) => expected,
  ),
  patched: field(
    optional(TEXTS, 'What a rule has changed in the reply, each as `PLACE: BEFORE → AFTER`.'),
    ({ patched }) => patched,
  ),
};

const FIELD_NAMES = rowNames(EXCHANGE_FIELDS);

type ExchangeFields = InputsOf<typeof EXCHANGE_FIELDS>;

export function readFields(exchange: Exchange): ExchangeFields {
  return Object.fromEntries(
    FIELD_NAMES.map((name): unknown[] => [name, EXCHANGE_FIELDS[name].read(exchange)]),
  );
}
