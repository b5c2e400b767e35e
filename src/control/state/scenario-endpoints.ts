import { ContentError } from '../../read-text.ts';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import { restarted, type State } from '../../sandbox/state.ts';
import { loadForRequest, shippedScenarios } from '../../scenario/load-scenario.ts';
import { callsOf } from '../../scenario/rules.ts';
import { type Start, touchesStore } from '../../scenario/sandbox-start.ts';
import { type Scenario, scenarioShape } from '../../scenario/scenario-shape.ts';
import { scenarioFromText } from '../../scenario/scenario-text.ts';
import { object, optional } from '../../shape/objects.ts';
import { ANY_TEXT, list, named, type ValueOf } from '../../shape/shapes.ts';
import { firstProblems } from '../../words.ts';
import {
  ACTIVE_SCENARIOS,
  type ActiveScenarios,
  SCENARIO_SUMMARY,
  type ScenarioSummary,
} from '../control-shapes.ts';
import { type ControlReply, json, type Listed, refuse, withBody } from '../endpoint.ts';
import type { ControlParts } from '../parts.ts';
import { WRITTEN } from './scenario-text-endpoints.ts';

const ACTIVE = { description: 'The active scenarios.', shape: ACTIVE_SCENARIOS };

const CHOICE = object(
  {
    scenarios: optional(
      list(ANY_TEXT, { expected: 'an array of scenario names' }),
      'Names in `GET scenarios`. A later one wins over an earlier one.',
    ),
    scenario: optional(
      named('ScenarioFile', scenarioShape(WRITTEN)),
      `A scenario, as in a scenario file. It is named \`${WRITTEN}\` and wins over those in \`scenarios\`.`,
    ),
    text: optional(ANY_TEXT, 'Instead of `scenario`: the same in YAML or JSON, as one string.'),
  },
  { some: true },
);

export const SCENARIO_ENDPOINTS: readonly Listed[] = [
  {
    id: 'listScenarios',
    route: ['get', '/scenarios'],
    summary: 'List the scenarios that can be named',
    description: 'Those that ship, those that the server started with, and those that are active.',
    replies: {
      200: { description: 'The scenarios.', shape: list(SCENARIO_SUMMARY) },
    },
    handle: ({ sandbox }) => json(summariesOf(sandbox)),
  },
  {
    id: 'getScenario',
    route: ['get', '/scenario'],
    summary: 'Read the active scenarios and their rules',
    replies: { 200: ACTIVE },
    handle: ({ sandbox }) => json(activeView(sandbox.state)),
  },
  withBody({
    id: 'setScenario',
    route: ['put', '/scenario'],
    summary: 'Replace the active scenarios',
    description: `Takes names in \`scenarios\`, and a whole scenario in \`scenario\`. An empty list deactivates all. Restarts the sandbox from them, but keeps changed records, unless the old or the new scenarios define records.`,
    body: { shape: CHOICE },
    replies: { 200: ACTIVE },
    handle: ({ parts, sandbox, body }) => setScenario(parts, sandbox, body),
  }),
];

async function setScenario(
  { sandboxes, starter }: ControlParts,
  sandbox: Sandbox,
  { scenarios = [], scenario, text }: ValueOf<typeof CHOICE>,
): Promise<ControlReply> {
  const reading = text === undefined ? undefined : await scenarioFromText(WRITTEN, text);
  if (reading?.ok === false) {
    const lines = firstProblems(
      reading.problems,
      ({ line, column, message }) => `line ${line}, column ${column}: ${message}`,
    );
    return refuse('invalid_input', 400, lines.join('; '));
  }
  const written = reading?.scenario ?? scenario;
  let start: Start;
  try {
    const loaded = await loadForRequest(scenarios, written, ownScenarios(sandbox));
    start = sandboxes.startOf(sandbox.name, await starter(loaded));
  } catch (error) {
    if (!(error instanceof ContentError)) throw error;
    return refuse('invalid_input', 400, error.message.replaceAll('\n', '; '));
  }
  return sandbox.change((before, { wall }) => {
    const former = before.settings.start;
    const isStoreChanged = [...former.scenarios, ...start.scenarios].some(touchesStore);
    // A later reset of the records returns to the store that the sandbox started with.
    const next = isStoreChanged ? start : { ...start, store: former.store };
    const keep = new Set(isStoreChanged ? [] : (['store'] as const));
    const state = restarted(before, next, wall, keep);
    return { state, result: json(activeView(state)) };
  });
}

/** The scenarios that a sandbox knows besides those that ship, by name. */
function ownScenarios({ origin, state }: Sandbox): ReadonlyMap<string, Scenario> {
  const { start } = state.settings;
  return new Map([...origin.scenarios, ...start.scenarios].map((it) => [it.name, it]));
}

function summariesOf(sandbox: Sandbox): readonly ScenarioSummary[] {
  const shipped = shippedScenarios();
  const shippedNames = new Set(shipped.map(({ name }) => name));
  const places = new Map(
    sandbox.state.settings.start.scenarios.map(({ name }, index) => [name, index + 1]),
  );
  const all = new Map([...shipped.map((it) => [it.name, it] as const), ...ownScenarios(sandbox)]);
  return [...all.values()].map(({ name, description }) => {
    const active = places.get(name);
    const summary = { name, description, shipped: shippedNames.has(name) };
    return active === undefined ? summary : { ...summary, active };
  });
}

function activeView({ settings: { start }, counters }: State): ActiveScenarios {
  const scenarios = start.scenarios.map(({ name, description, rules }) => ({
    name,
    description,
    rules: rules.map((rule) => ({
      number: rule.number,
      on: rule.on,
      status: rule.reply?.status,
      fault: rule.fault?.kind,
      calls: callsOf(start.rules, counters.rules, rule),
    })),
  }));
  return { scenarios };
}
