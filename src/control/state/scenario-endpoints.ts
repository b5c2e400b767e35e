import { knownScenarios } from '../../sandbox/known-scenarios.ts';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import { restarted, type State } from '../../sandbox/state.ts';
import { loadForRequest, shippedScenarios } from '../../scenario/load-scenario.ts';
import { callsOf } from '../../scenario/rules.ts';
import { changesStore, type Start } from '../../scenario/sandbox-start.ts';
import { isShipped } from '../../scenario/scenario-names.ts';
import { scenarioFromText } from '../../scenario/scenario-text.ts';
import { object, optional } from '../../shape/objects.ts';
import { ANY_TEXT, list, type ValueOf } from '../../shape/shapes.ts';
import {
  ACTIVE_SCENARIOS,
  type ActiveScenarios,
  SCENARIO_SUMMARY,
  type ScenarioSummary,
} from '../control-shapes.ts';
import { type ControlReply, type EndpointDefinition, json, withBody } from '../endpoint.ts';
import type { ControlParts } from '../parts.ts';
import { refuseContent, SCENARIO_FILE, WRITTEN } from './scenario-text-endpoints.ts';

const ACTIVE = { description: 'The active scenarios.', shape: ACTIVE_SCENARIOS };

const CHOICE = object(
  {
    scenarios: optional(
      list(ANY_TEXT, { expected: 'an array of scenario names' }),
      'Names in `GET scenarios`. A later one wins over an earlier one.',
    ),
    scenario: optional(
      SCENARIO_FILE,
      `A scenario, as in a scenario file. It is named \`${WRITTEN}\` and wins over those in \`scenarios\`.`,
    ),
    text: optional(ANY_TEXT, 'Instead of `scenario`: the same in YAML or JSON, as one string.'),
  },
  { some: true },
);

export const SCENARIO_ENDPOINTS: readonly EndpointDefinition[] = [
  {
    id: 'listScenarios',
    route: ['get', '/scenarios'],
    summary: 'List the scenarios that can be named',
    description:
      "Those that ship, those that the server started with, those that are active, and the sandbox's own.",
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
    example: { body: { scenarios: ['shipped-orders'] } },
    replies: { 200: ACTIVE },
    handle: ({ parts, sandbox, body }) => setScenario(parts, sandbox, body),
  }),
];

async function setScenario(
  { sandboxes, starter }: ControlParts,
  sandbox: Sandbox,
  { scenarios = [], scenario, text }: ValueOf<typeof CHOICE>,
): Promise<ControlReply> {
  let start: Start;
  try {
    const written = text === undefined ? scenario : await scenarioFromText(WRITTEN, text);
    const loaded = await loadForRequest(scenarios, written, knownScenarios(sandbox));
    start = sandboxes.startOf(sandbox.name, await starter(loaded));
  } catch (error) {
    return refuseContent(error);
  }
  return sandbox.change((before, { wall }) => {
    const former = before.settings.start;
    const isStoreChanged = [...former.scenarios, ...start.scenarios].some(changesStore);
    // A later reset of the records returns to the store that the sandbox started with.
    const next = isStoreChanged ? start : { ...start, store: former.store };
    const keep = new Set(isStoreChanged ? [] : (['store'] as const));
    const state = restarted(before, next, wall, keep);
    return { state, result: json(activeView(state)) };
  });
}

function summariesOf({ origin, state }: Sandbox): readonly ScenarioSummary[] {
  const { settings, scenarios: own } = state;
  const active = settings.start.scenarios;
  const places = new Map(active.map(({ name }, index) => [name, index + 1]));
  const all = [...shippedScenarios(), ...origin.scenarios, ...active, ...own.values()];
  return [...new Map(all.map((it) => [it.name, it])).values()].map(({ name, description }) => {
    const place = places.get(name);
    const summary = { name, description, shipped: isShipped(name), own: own.has(name) };
    return place === undefined ? summary : { ...summary, active: place };
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
      hold: rule.hold,
      calls: callsOf(start.rules, counters.rules, rule),
    })),
  }));
  return { scenarios };
}
