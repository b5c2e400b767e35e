import { LIMITS } from '../../limits.ts';
import { ContentError, formatProblem, type TextProblem } from '../../problems.ts';
import { outcome } from '../../sandbox/answer.ts';
import { COUNT, OPERATION } from '../../sandbox/report-shapes.ts';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import { activate, type State } from '../../sandbox/state.ts';
import { readCallCount } from '../../scenario/rules.ts';
import { isShipped, shippedScenarios, WRITTEN_SCENARIO } from '../../scenario/scenario-names.ts';
import { loadBases } from '../../scenario/scenario-records.ts';
import { scenarioSchema } from '../../scenario/scenario-shape.ts';
import { namedObject, object, optional, required } from '../../shape/objects.ts';
import { ANY_TEXT, convert, type InputOf, list, type ValueOf } from '../../shape/shapes.ts';
import { describeSwitch } from '../../words.ts';
import { type ControlCall, edit, endpoint } from '../endpoint.ts';
import { ANY_OBJECT, type ControlReply, json } from '../reply.ts';
import {
  findScenarios,
  OWN_SCENARIO_ENDPOINTS,
  SCENARIO_FILE,
  SCENARIO_MEMBERS,
  SCENARIO_SUMMARY,
} from './own-scenario-endpoints.ts';

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
const ACTIVE_SCENARIOS = namedObject('ActiveScenarios', {
  scenarios: required(list(ACTIVE_SCENARIO), 'A later one wins over an earlier one.'),
});

const SCENARIO_PROBLEM = object({
  line: required(COUNT, 'The line, from 1.'),
  column: required(COUNT, 'The column, from 1.'),
  message: required(ANY_TEXT, 'What was expected there, and what was found.'),
});

const CHOICE = convert(
  object(
    {
      scenarios: optional(
        list(ANY_TEXT, { expected: 'an array of scenario names' }),
        'Names in `GET scenarios`. A later one wins over an earlier one.',
      ),
      scenario: optional(
        SCENARIO_FILE,
        `A scenario, as in a scenario file. It is named \`${WRITTEN_SCENARIO}\` and wins over those in \`scenarios\`.`,
      ),
      text: optional(ANY_TEXT, 'Instead of `scenario`: the same in YAML or JSON, as one string.'),
    },
    { some: true },
  ),
  (sent, at, report) => {
    if (sent.scenario === undefined || sent.text === undefined) return sent;
    return report({ at: [...at, 'text'], expected: '`scenario` or `text`', found: 'both' });
  },
);

export const SCENARIO_ENDPOINTS = [
  endpoint('listScenarios', 'GET /scenarios', {
    summary: 'List the scenarios that can be named',
    description:
      "Those that ship, those that the server started with, those that are active, and the sandbox's own.",
    replies: { 200: list(SCENARIO_SUMMARY) },
    handle: async ({ sandbox, parts }) => json(listScenarios(sandbox, parts)),
  }),
  endpoint('getScenario', 'GET /scenario', {
    summary: 'Read the active scenarios and their rules',
    replies: { 200: ACTIVE_SCENARIOS },
    handle: async ({ sandbox }) => json(showActive(sandbox.state)),
  }),
  endpoint('setScenario', 'PUT /scenario', {
    summary: 'Replace the active scenarios',
    description:
      'Takes names in `scenarios`, and a whole scenario in `scenario`. An empty list deactivates all. A scenario that becomes active applies its records and its clock once, to what is there now. Its rules, keys and assumptions hold as long as it is active. What it does not name stays as it is, also what was set by hand.',
    body: { shape: CHOICE },
    example: { body: { scenarios: ['shipped-orders'] } },
    replies: { 200: ACTIVE_SCENARIOS },
    handle: setScenario,
  }),
  ...OWN_SCENARIO_ENDPOINTS,
  endpoint('checkScenario', 'POST /scenario/check', {
    summary: 'Find the problems of a scenario in YAML or JSON',
    description: 'Changes nothing. What it extends must be known, as for `PUT scenario`.',
    body: { shape: object({ text: required(ANY_TEXT, 'The scenario.') }) },
    example: { body: { text: 'rules:\n  - { on: getPet, delay: 200 }\n' } },
    replies: {
      200: object({ problems: required(list(SCENARIO_PROBLEM), 'Empty if it is valid.') }),
    },
    handle: checkScenario,
  }),
  endpoint('getScenarioSchema', 'GET /scenario-schema', {
    summary: 'Read the JSON Schema of scenario files',
    replies: { 200: ANY_OBJECT },
    handle: async () => json(scenarioSchema()),
  }),
];

async function setScenario(call: ControlCall<ValueOf<typeof CHOICE>>): Promise<ControlReply> {
  const { scenarios = [], scenario, text } = call.body;
  const { state } = call.sandbox;
  const sent = text === undefined ? scenario : writtenScenario(text);
  const found = await findScenarios(call, scenarios, sent);
  const loaded = await loadBases(found, call.parts.platform, state.settings.start.options.seed);
  const active = state.settings.active.map(({ name }) => name);
  const names = loaded.map(({ name }) => name);
  return edit(call, describeSwitch(active, names), (before, now) => {
    const after = activate(before, loaded, now);
    return outcome(before, json(showActive(after)), after);
  });
}

/** The scenario in a JSON body that contains YAML as a string. */
function writtenScenario(text: string) {
  return { name: WRITTEN_SCENARIO, format: 'yaml', text } as const;
}

async function checkScenario(call: ControlCall<{ readonly text: string }>): Promise<ControlReply> {
  try {
    await findScenarios(call, [], writtenScenario(call.body.text));
    return json({ problems: [] });
  } catch (error) {
    if (!(error instanceof ContentError)) throw error;
    return json({ problems: error.problems.slice(0, LIMITS.problems).map(showProblem) });
  }
}

/** The request has no place for a problem of another scenario, so it is shown at line 1. */
function showProblem(problem: TextProblem) {
  const { file, line = 1, column = 1, message } = problem;
  if (file === WRITTEN_SCENARIO) return { line, column, message };
  return { line: 1, column: 1, message: formatProblem(problem) };
}

function listScenarios(
  { start, state }: Sandbox,
  { platform }: ControlCall['parts'],
): readonly InputOf<typeof SCENARIO_SUMMARY>[] {
  const { scenarios: own } = state;
  const { active } = state.settings;
  const all = [...shippedScenarios(platform), ...start.scenarios, ...active, ...own.values()];
  const named = new Map(all.map((scenario) => [scenario.name, scenario]));
  return [...named.values()].map(({ name, description }) => {
    const place = active.findIndex((scenario) => scenario.name === name) + 1;
    const origin = { shipped: isShipped(name), own: own.has(name) };
    return { name, description, ...origin, active: place || undefined };
  });
}

function showActive({ settings, counters }: State): InputOf<typeof ACTIVE_SCENARIOS> {
  const scenarios = settings.active.map(({ name, description, rules }) => ({
    name,
    description,
    rules: rules.map((rule) => ({
      number: rule.number,
      on: rule.on,
      status: rule.reply?.status,
      fault: rule.fault?.kind,
      hold: rule.hold,
      calls: readCallCount(counters.rules, rule),
    })),
  }));
  return { scenarios };
}
