import { ContentError } from '../../read-text.ts';
import { knownScenarios } from '../../sandbox/known-scenarios.ts';
import type { EditResult, Sandbox } from '../../sandbox/sandbox.ts';
import { SANDBOX_NAME, SANDBOX_NAME_FORM } from '../../sandbox/sandbox-names.ts';
import type { State } from '../../sandbox/state.ts';
import { loadForRequest, scenarioText } from '../../scenario/load-scenario.ts';
import { withoutPreferred } from '../../scenario/rules.ts';
import { isShipped, SCENARIO_NAMES } from '../../scenario/scenario-names.ts';
import { scenarioSchema, scenarioShape } from '../../scenario/scenario-shape.ts';
import { type SavedScenario, scenarioFromText } from '../../scenario/scenario-text.ts';
import { object, required } from '../../shape/objects.ts';
import { ANY, ANY_TEXT, choice, named, type Shape, type ValueOf } from '../../shape/shapes.ts';
import { describe, firstProblems, suggest } from '../../words.ts';
import { SCENARIO_PROBLEMS, SCENARIO_SUMMARY } from '../control-shapes.ts';
import {
  type ControlReply,
  DONE,
  type EndpointDefinition,
  json,
  refuse,
  withBody,
  YAML_TYPE,
} from '../endpoint.ts';

/** The name of a scenario that `PUT scenario` contains. */
export const WRITTEN = 'request';

/** The most scenarios of its own that a sandbox keeps. */
const MOST_SCENARIOS = 100;

const MEDIA_TYPES = { yaml: YAML_TYPE, json: 'application/json' } as const;

export const SCENARIO_FILE = named('ScenarioFile', scenarioShape(WRITTEN));

const TEXT = object({
  format: required(choice(['yaml', 'json']), 'As its media type says.'),
  text: required(ANY_TEXT, 'As it was written.'),
});

/** A text whose value is a scenario. */
const SCENARIO_TEXT: Shape<ValueOf<typeof TEXT>> = { ...TEXT, schema: SCENARIO_FILE.schema };

/** Scenarios as text, those of the sandbox included. */
export const SCENARIO_TEXT_ENDPOINTS: readonly EndpointDefinition[] = [
  {
    id: 'getScenarioSource',
    route: ['get', '/scenarios/{name}'],
    summary: 'Read a scenario that ships or is your own, as it was written',
    example: { path: 'slow' },
    replies: {
      200: {
        description: 'The text, in the language that it was written in.',
        shape: ANY_TEXT,
        mediaType: Object.values(MEDIA_TYPES),
      },
      404: 'There is no text of this name.',
    },
    handle: ({ sandbox, params: { name = '' } }) => {
      const own = sandbox.state.scenarios.get(name);
      if (own === undefined && !isShipped(name)) return notFound(sandbox, name);
      const text = own?.text ?? scenarioText(name);
      const mediaType = MEDIA_TYPES[own?.format ?? 'yaml'];
      return { status: 200, body: { kind: 'text', mediaType, text } };
    },
  },
  withBody({
    id: 'saveScenario',
    route: ['put', '/scenarios/{name}'],
    summary: 'Save a scenario of your own in the sandbox',
    description: `In YAML (\`${YAML_TYPE}\`), of at most 16,384 characters, or in JSON, of at most 131,072. \`PUT scenario\`, \`extends\` and \`Prefer: scenario=NAME\` know it by its name, which has ${SANDBOX_NAME_FORM}. Replaces one of that name. If that is active, it stays as it was activated. A sandbox has at most ${MOST_SCENARIOS}.`,
    body: { shape: SCENARIO_TEXT, asText: true },
    example: {
      path: 'no-cat',
      body: { description: 'No cat.', rules: [{ on: 'getPet', reply: { status: 404 } }] },
    },
    replies: {
      200: { description: 'Saved; replaced another.', shape: SCENARIO_SUMMARY },
      201: { description: 'Saved.', shape: SCENARIO_SUMMARY },
      409: 'The name is taken, or the sandbox has too many.',
    },
    handle: async ({ sandbox, params: { name = '' }, body: { format, text } }) => {
      const refusal = refusedName(sandbox, name);
      if (refusal !== undefined) return refusal;
      try {
        const scenario = await scenarioFromText(name, text, format);
        await loadForRequest([], scenario, knownScenarios(sandbox));
        const saved = { name, description: scenario.description, format, text };
        return sandbox.change((state) => withSaved(state, saved));
      } catch (error) {
        return refuseContent(error);
      }
    },
  }),
  {
    id: 'deleteScenario',
    route: ['delete', '/scenarios/{name}'],
    summary: 'Delete a scenario of your own',
    description: 'If it is active, it stays so.',
    example: { path: 'no-cat' },
    replies: {
      204: 'Deleted.',
      404: 'The sandbox has no such scenario.',
      409: 'It ships, and cannot be deleted.',
    },
    handle: ({ sandbox, params: { name = '' } }) =>
      sandbox.change((state) => {
        const scenarios = new Map(state.scenarios);
        if (scenarios.delete(name)) return { state: { ...state, scenarios }, result: DONE };
        const message = `${name} ships with the mock and cannot be deleted`;
        const result = isShipped(name)
          ? refuse('cannot_be_deleted', 409, message)
          : notFound(sandbox, name);
        return { state, result };
      }),
  },
  withBody({
    id: 'checkScenario',
    route: ['post', '/scenario/check'],
    summary: 'Find the problems of a scenario in YAML or JSON',
    description: 'Changes nothing. What it extends must be known, as for `PUT scenario`.',
    body: { shape: object({ text: required(ANY_TEXT, 'The scenario.') }) },
    example: { body: { text: 'rules:\n  - { on: getPet, delay: 200 }\n' } },
    replies: { 200: { description: 'The problems.', shape: SCENARIO_PROBLEMS } },
    handle: async ({ sandbox, body: { text } }) => {
      try {
        const scenario = await scenarioFromText(WRITTEN, text);
        await loadForRequest([], scenario, knownScenarios(sandbox));
        return json({ problems: [] });
      } catch (error) {
        if (!(error instanceof ContentError)) throw error;
        return json({ problems: firstProblems(error.problems, String).map(problemInText) });
      }
    },
  }),
  {
    id: 'getScenarioSchema',
    route: ['get', '/scenario-schema'],
    summary: 'Read the JSON Schema of scenario files',
    replies: {
      200: { description: 'The schema.', shape: { ...ANY, schema: { type: 'object' } } },
    },
    handle: () => json(scenarioSchema()),
  },
];

const PLACE = new RegExp(`^${WRITTEN}:(\\d+):(\\d+): `);

/** A problem of the scenario in a request with its place; line 1 for that of another scenario. */
function problemInText(line: string) {
  const [place = '', row = 1, column = 1] = PLACE.exec(line) ?? [];
  return { line: Number(row), column: Number(column), message: line.slice(place.length) };
}

function refusedName({ origin }: Sandbox, name: string): ControlReply | undefined {
  if (!SANDBOX_NAME.test(name)) {
    const message = `scenario name: expected ${SANDBOX_NAME_FORM}, found ${describe(name)}`;
    return refuse('invalid_input', 400, message);
  }
  const takenBy = isShipped(name)
    ? 'a scenario that ships'
    : origin.scenarios.some((it) => it.name === name)
      ? 'a file that the server was started with'
      : name === WRITTEN && 'the scenario in a request';
  if (!takenBy) return undefined;
  return refuse('already_exists', 409, `${name} is the name of ${takenBy}: choose another`);
}

/** @throws any other error */
export function refuseContent(error: unknown): ControlReply {
  if (!(error instanceof ContentError)) throw error;
  return refuse('invalid_input', 400, error.message.replaceAll('\n', '; '));
}

function withSaved(state: State, saved: SavedScenario): EditResult<ControlReply> {
  const { name, description } = saved;
  const isKnown = state.scenarios.has(name);
  if (!isKnown && state.scenarios.size >= MOST_SCENARIOS) {
    const message = `limit of own scenarios (${MOST_SCENARIOS}) reached; delete one first`;
    return { state, result: refuse('too_many_scenarios', 409, message) };
  }
  const scenarios = new Map(state.scenarios).set(name, saved);
  const rules = withoutPreferred(state.counters.rules, name);
  const summary = { name, description, shipped: false, own: true };
  return {
    state: { ...state, scenarios, counters: { ...state.counters, rules } },
    result: json(summary, isKnown ? 200 : 201),
  };
}

function notFound({ state: { scenarios } }: Sandbox, name: string): ControlReply {
  const hint = suggest(name, [...SCENARIO_NAMES, ...scenarios.keys()]);
  return refuse('not_found', 404, `there is no text of a scenario ${describe(name)}${hint}`);
}
