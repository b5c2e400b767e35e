import { hashOf } from '../../hash.ts';
import { LIMITS, SCENARIO_NAME_FORM, SCENARIO_NAME_PATTERN } from '../../limits.ts';
import { knownScenarios } from '../../sandbox/preference.ts';
import { COUNT, OPERATION } from '../../sandbox/report-shapes.ts';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import { activate, type State, withEntry } from '../../sandbox/state.ts';
import {
  loadForRequest,
  readSentScenario,
  scenarioText,
  shippedScenarios,
} from '../../scenario/load-scenario.ts';
import { dropCounters, readCallCount } from '../../scenario/rules.ts';
import { loadBases } from '../../scenario/sandbox-start.ts';
import { isShipped, SCENARIO_NAMES, WRITTEN_SCENARIO } from '../../scenario/scenario-names.ts';
import {
  type ScenarioDefinition,
  scenarioSchema,
  scenarioShape,
} from '../../scenario/scenario-shape.ts';
import { internal, namedObject, object, optional, required } from '../../shape/objects.ts';
import {
  ANY_TEXT,
  choice,
  FLAG,
  type InputOf,
  list,
  named,
  type Shape,
  type ValueOf,
  withTypes,
} from '../../shape/shapes.ts';
import {
  ContentError,
  describe,
  describeSwitch,
  formatProblem,
  suggest,
  type TextProblem,
} from '../../words.ts';
import { type ControlCall, edit, endpoint, YAML_TYPE } from '../endpoint.ts';
import {
  ANY_OBJECT,
  type ControlReply,
  json,
  NO_CONTENT,
  refuse,
  refuseInput,
  refuseOneMore,
} from '../reply.ts';

const SCENARIO_MEMBERS = {
  name: required(ANY_TEXT, 'Its name.'),
  description: required(ANY_TEXT, 'What a client sees under it.'),
};

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

const SCENARIO_SUMMARY = namedObject('Scenario', {
  ...SCENARIO_MEMBERS,
  shipped: required(FLAG, 'Whether it ships with the mock.'),
  own: required(FLAG, 'Whether the sandbox keeps it: `PUT scenarios/{name}` has saved it.'),
  active: optional(COUNT, 'If active, its place from 1. A later one wins over an earlier one.'),
});
const SCENARIO_PROBLEM = object({
  line: required(COUNT, 'The line, from 1.'),
  column: required(COUNT, 'The column, from 1.'),
  message: required(ANY_TEXT, 'What was expected there, and what was found.'),
});

const MEDIA_TYPES = { yaml: YAML_TYPE, json: 'application/json' } as const;
const SCENARIO_FILE = named('ScenarioFile', scenarioShape(WRITTEN_SCENARIO));

const TEXT = object({
  format: internal.required(choice(['yaml', 'json'])),
  text: internal.required(ANY_TEXT),
});

const SCENARIO_TEXT: Shape<ValueOf<typeof TEXT>, ScenarioDefinition | string> = {
  ...withTypes(TEXT),
  schema: SCENARIO_FILE.schema,
};

const CHOICE = object(
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
);

export const SCENARIO_ENDPOINTS = [
  endpoint('listScenarios', 'GET /scenarios', {
    summary: 'List the scenarios that can be named',
    description:
      "Those that ship, those that the server started with, those that are active, and the sandbox's own.",
    replies: { 200: list(SCENARIO_SUMMARY) },
    handle: ({ sandbox }) => json(listScenarios(sandbox)),
  }),
  endpoint('getScenario', 'GET /scenario', {
    summary: 'Read the active scenarios and their rules',
    replies: { 200: ACTIVE_SCENARIOS },
    handle: ({ sandbox }) => json(showActive(sandbox.state)),
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
  endpoint('getScenarioSource', 'GET /scenarios/{name}', {
    summary: 'Read a scenario that ships or is your own, as it was written',
    example: { path: 'slow' },
    replies: { 200: ANY_TEXT, 404: 'There is no text of this name.' },
    mediaType: Object.values(MEDIA_TYPES),
    headers: { ETag: 'The version of the text, for `If-Match` of `PUT scenarios/{name}`.' },
    handle: ({ sandbox, params: { name = '' } }) => {
      const own = sandbox.state.scenarios.get(name);
      if (own === undefined && !isShipped(name)) return refuseScenario(sandbox.state, name);
      const { format, text } = own ?? { format: 'yaml', text: scenarioText(name) };
      const mediaType = MEDIA_TYPES[format];
      return { status: 200, mediaType, headers: { ETag: createEtag(text) }, content: text };
    },
  }),
  endpoint('saveScenario', 'PUT /scenarios/{name}', {
    summary: 'Save a scenario of your own in the sandbox',
    description: `In YAML (\`${YAML_TYPE}\`), of at most 16,384 characters, or in JSON, of at most 131,072. \`PUT scenario\`, \`extends\` and \`Prefer: scenario=NAME\` know it by its name, of ${SCENARIO_NAME_FORM}. Replaces one of that name. If that is active, it stays as it was activated. With \`If-Match\`, replaces only the version that has this ETag. A sandbox has at most ${LIMITS.named.max}.`,
    body: { shape: SCENARIO_TEXT, asText: true },
    example: {
      path: 'no-cat',
      body: { description: 'No cat.', rules: [{ on: 'getPet', reply: { status: 404 } }] },
    },
    replies: {
      200: SCENARIO_SUMMARY,
      201: SCENARIO_SUMMARY,
      409: 'The name is taken, or the sandbox has too many.',
      412: 'Somebody has changed or deleted it since the version that `If-Match` names.',
    },
    handle: saveScenario,
  }),
  endpoint('deleteScenario', 'DELETE /scenarios/{name}', {
    summary: 'Delete a scenario of your own',
    description: 'If it is active, it stays so.',
    example: { path: 'no-cat' },
    replies: {
      204: 'Deleted.',
      404: 'The sandbox has no such scenario.',
      409: 'It ships, and cannot be deleted.',
    },
    handle: (call) =>
      edit(call, `deleted the scenario ${call.params.name}`, (state) => {
        const { name = '' } = call.params;
        if (state.scenarios.has(name)) {
          const scenarios = withEntry(state.scenarios, name, undefined);
          const rules = dropCounters(state.counters.rules, 'prefer', name);
          return { scenarios, counters: { ...state.counters, rules }, reply: NO_CONTENT };
        }
        if (!isShipped(name)) return refuseScenario(state, name);
        return refuse('cannot_be_deleted', 409, `${name} ships and cannot be deleted`);
      }),
  }),
  endpoint('checkScenario', 'POST /scenario/check', {
    summary: 'Find the problems of a scenario in YAML or JSON',
    description: 'Changes nothing. What it extends must be known, as for `PUT scenario`.',
    body: { shape: object({ text: required(ANY_TEXT, 'The scenario.') }) },
    example: { body: { text: 'rules:\n  - { on: getPet, delay: 200 }\n' } },
    replies: {
      200: object({ problems: required(list(SCENARIO_PROBLEM), 'Empty if it is valid.') }),
    },
    handle: async ({ sandbox, body: { text } }) => {
      try {
        const scenario = await readSentScenario(WRITTEN_SCENARIO, text);
        await loadForRequest([], scenario, knownScenarios(sandbox.state));
        return json({ problems: [] });
      } catch (error) {
        if (!(error instanceof ContentError)) throw error;
        return json({ problems: error.problems.slice(0, LIMITS.problems.max).map(showProblem) });
      }
    },
  }),
  endpoint('getScenarioSchema', 'GET /scenario-schema', {
    summary: 'Read the JSON Schema of scenario files',
    replies: { 200: ANY_OBJECT },
    handle: () => json(scenarioSchema()),
  }),
];

async function setScenario(call: ControlCall<ValueOf<typeof CHOICE>>): Promise<ControlReply> {
  const { scenarios = [], scenario, text } = call.body;
  const written = text === undefined ? scenario : await readSentScenario(WRITTEN_SCENARIO, text);
  const { state } = call.sandbox;
  const loaded = await loadBases(
    await loadForRequest(scenarios, written, knownScenarios(state)),
    state.settings.start.seed,
  );
  const active = state.settings.active.map(({ name }) => name);
  const names = loaded.map(({ name }) => name);
  return edit(call, describeSwitch(active, names), (before, now) => {
    const after = activate(before, loaded, now);
    return { ...after, reply: json(showActive(after)) };
  });
}

async function saveScenario(call: ControlCall<ValueOf<typeof TEXT>>): Promise<ControlReply> {
  const { sandbox } = call;
  const { name = '' } = call.params;
  const { format, text } = call.body;
  if (!SCENARIO_NAME_PATTERN.test(name)) {
    return refuseInput([
      { path: 'scenario name', expected: SCENARIO_NAME_FORM, found: describe(name) },
    ]);
  }
  const started = sandbox.start.scenarios.map((scenario) => scenario.name);
  if ([WRITTEN_SCENARIO, ...SCENARIO_NAMES, ...started].includes(name)) {
    return refuse('already_exists', 409, `the name ${name} is taken: choose another`);
  }
  const scenario = await readSentScenario(name, text, format);
  await loadForRequest([], scenario, knownScenarios(sandbox.state));
  const { description } = scenario;
  const wanted = call.headers['if-match'];
  return edit(call, `saved the scenario ${name}`, ({ scenarios, counters }) => {
    const saved = scenarios.get(name);
    if (wanted !== undefined && !matchesEtag(String(wanted), saved && createEtag(saved.text))) {
      const change = saved === undefined ? 'deleted' : 'changed';
      const message = `somebody has ${change} the scenario ${name} since you read it`;
      return refuse('changed_meanwhile', 412, message);
    }
    const refusal = refuseOneMore('scenarios', scenarios, name);
    if (refusal !== undefined) return refusal;
    const summary = { name, description, shipped: false, own: true };
    return {
      scenarios: withEntry(scenarios, name, { name, description, format, text }),
      counters: { ...counters, rules: dropCounters(counters.rules, 'prefer', name) },
      reply: json(summary, scenarios.has(name) ? 200 : 201),
    };
  });
}

function createEtag(text: string): string {
  return `"${hashOf(text)}"`;
}

/** RFC 9110, 13.1.1. Without a scenario there is no tag, which not even `*` matches. */
function matchesEtag(wanted: string, etag: string | undefined): boolean {
  const tags = wanted.split(',').map((tag) => tag.trim());
  return etag !== undefined && (wanted.trim() === '*' || tags.includes(etag));
}

function listScenarios({ start, state }: Sandbox): readonly InputOf<typeof SCENARIO_SUMMARY>[] {
  const { scenarios: own } = state;
  const { active } = state.settings;
  const all = [...shippedScenarios(), ...start.scenarios, ...active, ...own.values()];
  const named = new Map(all.map((scenario) => [scenario.name, scenario]));
  return [...named.values()].map(({ name, description }) => {
    const place = active.findIndex((scenario) => scenario.name === name) + 1;
    const origin = { shipped: isShipped(name), own: own.has(name) };
    return { name, description, ...origin, active: place || undefined };
  });
}

/** A problem of another scenario is at line 1. */
function showProblem(problem: TextProblem): InputOf<typeof SCENARIO_PROBLEM> {
  const { file, line = 1, column = 1, message } = problem;
  if (file === WRITTEN_SCENARIO) return { line, column, message };
  return { line: 1, column: 1, message: formatProblem(problem) };
}

function refuseScenario({ scenarios }: State, name: string): ControlReply {
  const hint = suggest(name, [...SCENARIO_NAMES, ...scenarios.keys()]);
  const message = `${describe(name)} is neither a saved nor a shipped scenario${hint}`;
  return refuse('not_found', 404, message);
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
