import { ASSUMPTION_IDS } from '../contract/assumption-table.ts';
import { ASSUMPTION_VERDICT } from '../deployment/check/verdict-shapes.ts';
import { NAME_FORM, NAME_PATTERN } from '../limits.ts';
import { HOLD_ENDS } from '../sandbox/exchange.ts';
import { FINDING_CODE_NAMES } from '../sandbox/finding-codes.ts';
import {
  BASIS_KIND,
  COUNT,
  coverageShape,
  EXPECTED_REPLY,
  FINDING,
  NOTED_MEMBERS,
  OPERATION,
  REPLY_MEMBERS,
  TEXTS,
} from '../sandbox/report-shapes.ts';
import { INSTANT_TEXT } from '../scenario/time-shapes.ts';
import { mapOf, namedObject, object, optional, required } from '../shape/objects.ts';
import {
  ANY,
  ANY_TEXT,
  choice,
  convert,
  FLAG,
  list,
  named,
  number,
  type Shape,
  text,
  type ValueOf,
} from '../shape/shapes.ts';

/** The name of a sandbox or of a snapshot. */
export const NAME = text(NAME_FORM, NAME_PATTERN, { pattern: NAME_PATTERN.source });

export const ANY_OBJECT: Shape<unknown> = { ...ANY, schema: { type: 'object' } };

const MILLISECONDS = number(0, Number.MAX_VALUE, 'milliseconds');

const SIZES = {
  animals: required(COUNT, 'How many animals it has.'),
  inventory: required(COUNT, 'How many inventory entries it has.'),
  orders: required(COUNT, 'How many orders it has.'),
};

export const SNAPSHOT = namedObject('Snapshot', {
  name: required(ANY_TEXT, 'Its name.'),
  ...SIZES,
});
/** A stored copy of a sandbox's store. */
export type Snapshot = ValueOf<typeof SNAPSHOT>;

const SCENARIO_MEMBERS = {
  name: required(ANY_TEXT, 'Its name.'),
  description: required(ANY_TEXT, 'What a client sees under it.'),
};

export const SCENARIO_SUMMARY = namedObject('Scenario', {
  ...SCENARIO_MEMBERS,
  shipped: required(FLAG, 'Whether it ships with the mock.'),
  own: required(FLAG, 'Whether the sandbox keeps it: `PUT scenarios/{name}` has saved it.'),
  active: optional(COUNT, 'If active, its place from 1. A later one wins over an earlier one.'),
});
/** A scenario that can be named. */
export type ScenarioSummary = ValueOf<typeof SCENARIO_SUMMARY>;

const ACTIVE_RULE = namedObject('ActiveRule', {
  number: required(COUNT, 'Its place in its scenario, counted from 1.'),
  on: required(list(OPERATION), 'The operations that it is for.'),
  status: optional(COUNT, 'The status of its reply, if it has one.'),
  fault: optional(ANY_TEXT, 'The name of its fault, if it has one.'),
  hold: optional(ANY_TEXT, 'The name of its hold, if it holds replies back.'),
  calls: optional(COUNT, 'How many calls it has matched, if it counts them.'),
});

const ACTIVE_SCENARIO = namedObject('ActiveScenario', {
  ...SCENARIO_MEMBERS,
  rules: required(list(ACTIVE_RULE), 'Its rules.'),
});

export const ACTIVE_SCENARIOS = namedObject('ActiveScenarios', {
  scenarios: required(list(ACTIVE_SCENARIO), 'A later one wins over an earlier one.'),
});
export type ActiveScenarios = ValueOf<typeof ACTIVE_SCENARIOS>;

const SCENARIO_PROBLEM = object({
  line: required(COUNT, 'The line, from 1.'),
  column: required(COUNT, 'The column, from 1.'),
  message: required(ANY_TEXT, 'What was expected there, and what was found.'),
});
/** What is wrong with the text of a scenario, and where. */
export type ScenarioProblem = ValueOf<typeof SCENARIO_PROBLEM>;

export const SCENARIO_PROBLEMS = object({
  problems: required(list(SCENARIO_PROBLEM), 'Every problem; empty if the scenario is valid.'),
});

const OPTION = object({
  name: required(ANY_TEXT, 'Its name.'),
  meaning: required(ANY_TEXT, 'What the mock does if it is chosen.'),
});

export const ASSUMPTION = namedObject('Assumption', {
  id: required(choice(ASSUMPTION_IDS), 'Its id.'),
  topic: required(ANY_TEXT, 'What it is about.'),
  question: required(ANY_TEXT, 'What the document leaves open.'),
  operations: required(list(OPERATION), 'The operations whose replies it can change.'),
  options: required(list(OPTION), 'The options, the default first.'),
  chosen: required(ANY_TEXT, 'The option that is chosen.'),
  default: required(ANY_TEXT, 'The option that is chosen by default.'),
  calls: optional(COUNT, 'How many calls in the journal it decided; in `GET assumptions` only.'),
  checked: optional(ASSUMPTION_VERDICT, 'What a check of a deployment found out about it.'),
});
/** An assumption, and the option that is chosen. */
export type AssumptionState = ValueOf<typeof ASSUMPTION>;

export const CLOCK = namedObject('Clock', {
  now: required(INSTANT_TEXT, 'The current time.'),
  frozen: required(FLAG, 'Whether it is frozen.'),
  real: required(FLAG, 'Whether it follows the system time.'),
});
/** The state of a sandbox's clock. */
export type ClockState = ValueOf<typeof CLOCK>;

export const UPSTREAM = namedObject('Upstream', {
  url: optional(ANY_TEXT, 'The base URL of the deployment; left out if the mock answers.'),
  ownKey: required(FLAG, "Whether the deployment gets a key in place of the client's."),
});
/** Which deployment answers in a sandbox. */
export type UpstreamState = ValueOf<typeof UPSTREAM>;

export const STATUS = namedObject('Status', {
  sandbox: required(ANY_TEXT, 'The name of the sandbox.'),
  scenarios: required(TEXTS, 'The active scenarios. A later one wins over an earlier one.'),
  assumptions: required(TEXTS, 'The assumptions that are not at their default, as `id=option`.'),
  clock: required(CLOCK, 'The clock.'),
  upstream: optional(ANY_TEXT, 'The base URL of the deployment that answers, if one does.'),
  held: required(COUNT, 'How many replies rules hold back.'),
  latches: required(TEXTS, 'The names of the latches, which hold replies back until opened.'),
  latestExchange: required(COUNT, 'The number of the latest exchange; 0 before the first.'),
});
/** What in a sandbox differs from a fresh mock. */
export type SandboxStatus = ValueOf<typeof STATUS>;

const HEADERS = convert(
  mapOf(ANY_TEXT, { expected: 'headers by name', name: /^/, expectedName: 'a name' }),
  (headers): Readonly<Record<string, string>> => Object.fromEntries(headers),
);

const MESSAGE = object({
  headers: required(HEADERS, 'The headers by name.'),
  body: optional(ANY, 'The JSON value of the body, or else its text.'),
  size: optional(COUNT, 'The bytes of the whole body; left out if there was none.'),
  cut: optional(FLAG, 'Whether the body was dropped: it was too long, or others are newer.'),
});
/** A request or a reply as the journal kept it. */
export type RecordedMessage = ValueOf<typeof MESSAGE>;

export const EXCHANGE = namedObject('Exchange', {
  number: required(COUNT, 'Counted from 1, dropped exchanges included.'),
  at: required(INSTANT_TEXT, "When it was answered, by the sandbox's clock."),
  method: required(ANY_TEXT, 'The method of the request.'),
  target: required(ANY_TEXT, 'The path and the query of the request.'),
  operation: optional(OPERATION, 'The operation, if the request reached one.'),
  traceId: optional(ANY_TEXT, 'The trace that its `traceparent` names, if it names one.'),
  replays: optional(COUNT, 'The number of the exchange that it replays.'),
  key: optional(ANY_TEXT, 'The first characters of the API key.'),
  status: optional(COUNT, 'Left out if the client received none.'),
  fault: optional(ANY_TEXT, 'The fault that replaced or spoilt the reply.'),
  delay: required(MILLISECONDS, 'How long the reply was delayed, in milliseconds.'),
  hold: optional(
    object({
      name: required(ANY_TEXT, 'The name of the hold; `default` for `hold: true`.'),
      ended: optional(choice(HOLD_ENDS), 'Why it ended; left out while the reply is held back.'),
      lasted: optional(MILLISECONDS, 'How long the reply was held back, in milliseconds.'),
    }),
    'Set if a rule holds or held the reply back.',
  ),
  duration: required(MILLISECONDS, 'Milliseconds from the request to its reply, delay included.'),
  basis: required(BASIS_KIND, 'What the reply rests on.'),
  by: required(TEXTS, 'The assumptions or the rule that the basis names.'),
  why: required(TEXTS, 'The reasons in words, the nearest first.'),
  findings: required(
    list(object(NOTED_MEMBERS)),
    'What the client should not do against the real service.',
  ),
  expected: optional(
    EXPECTED_REPLY,
    'What the mock would have answered in place of the deployment; left out where it cannot know.',
  ),
  request: required(MESSAGE, 'The request. Credentials in its headers are masked.'),
  reply: required(MESSAGE, 'The reply, without the headers of the connection.'),
});
/** One exchange as the journal of a sandbox shows it. */
export type RecordedExchange = ValueOf<typeof EXCHANGE>;

const EDIT = namedObject('Edit', {
  after: required(COUNT, 'The number of the exchange before it.'),
  at: required(INSTANT_TEXT, "When it was made, by the sandbox's clock."),
  what: required(ANY_TEXT, 'What was changed, in words.'),
  by: required(ANY_TEXT, 'Who changed it: what the header `Mock-Client` says.'),
  changed: required(
    object({
      animals: required(COUNT, 'Changed animals.'),
      inventory: required(COUNT, 'Changed inventory entries.'),
      orders: required(COUNT, 'Changed orders.'),
    }),
    'How many records it changed.',
  ),
});
/** A change by the control API, as the journal shows it. */
export type EditView = ValueOf<typeof EDIT>;

export const JOURNAL = namedObject('Journal', {
  exchanges: required(list(EXCHANGE), 'The latest exchanges that match, in the given order.'),
  edits: optional(list(EDIT), 'With `edits=true`, the changes by the control API, oldest first.'),
  dropped: required(COUNT, 'How many exchanges are no longer kept.'),
  total: required(COUNT, 'How many match, regardless of the limit.'),
});

export type JournalPage = ValueOf<typeof JOURNAL>;

export const EXCHANGE_COUNT = namedObject('ExchangeCount', {
  count: required(COUNT, 'How many exchanges match.'),
  complete: required(FLAG, 'False if a dropped exchange could have matched.'),
});

export const SANDBOX = namedObject('Sandbox', {
  name: required(ANY_TEXT, 'Its name.'),
  service: required(ANY_TEXT, 'The path of its service.'),
  control: required(ANY_TEXT, 'The path of its control API.'),
  lastUsed: required(
    INSTANT_TEXT,
    'When it last answered a request or was changed, or else was created, in real time.',
  ),
  ...SIZES,
  requests: required(COUNT, 'How many exchanges its journal keeps.'),
  findings: required(COUNT, 'How many findings it has, including those that are not kept.'),
});
/** A sandbox and its sizes. */
export type SandboxSummary = ValueOf<typeof SANDBOX>;

const REPLY_COVERAGE = object({
  ...REPLY_MEMBERS,
  curl: optional(
    ANY_TEXT,
    'A curl command that gets it. Left out under --plain if it needs `Prefer`.',
  ),
});

export const COVERAGE = named('Coverage', coverageShape(REPLY_COVERAGE));
export type Coverage = ValueOf<typeof COVERAGE>;

export const FINDINGS = namedObject('Findings', {
  total: required(COUNT, 'How many there are, including those that are not kept.'),
  counts: required(
    object(
      Object.fromEntries(
        FINDING_CODE_NAMES.map((code) => [code, optional(COUNT, `How many are ${code}.`)]),
      ),
    ),
    'How many there are of each code, including those that are not kept.',
  ),
  findings: required(list(FINDING), 'The findings that are kept.'),
});
export type Findings = ValueOf<typeof FINDINGS>;
