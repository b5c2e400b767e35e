import { LIMITS, SCENARIO_NAME_FORM } from '../../limits.ts';
import { knownScenarios } from '../../sandbox/preference.ts';
import { COUNT } from '../../sandbox/report-shapes.ts';
import { WRITTEN_SCENARIO } from '../../scenario/scenario-names.ts';
import {
  type SavedScenario,
  type Scenario,
  type ScenarioDefinition,
  scenarioShape,
} from '../../scenario/scenario-shape.ts';
import { namedObject, object, optional, required } from '../../shape/objects.ts';
import {
  ANY_TEXT,
  choice,
  FLAG,
  named,
  type Shape,
  type ValueOf,
  withTypes,
} from '../../shape/shapes.ts';
import { type ControlCall, endpoint, YAML_TYPE } from '../endpoint.ts';

export const SCENARIO_MEMBERS = {
  name: required(ANY_TEXT, 'Its name.'),
  description: required(ANY_TEXT, 'What a client sees under it.'),
};

export const SCENARIO_SUMMARY = namedObject('Scenario', {
  ...SCENARIO_MEMBERS,
  shipped: required(FLAG, 'Whether it ships with the mock.'),
  own: required(FLAG, 'Whether the sandbox keeps it: `PUT scenarios/{name}` has saved it.'),
  active: optional(COUNT, 'If active, its place from 1. A later one wins over an earlier one.'),
});
export const MEDIA_TYPES = { yaml: YAML_TYPE, json: 'application/json' } as const;
export const SCENARIO_FILE = named('ScenarioFile', scenarioShape(WRITTEN_SCENARIO));

const TEXT = object({
  format: required(choice(['yaml', 'json']), ''),
  text: required(ANY_TEXT, ''),
});

const SCENARIO_TEXT: Shape<ValueOf<typeof TEXT>, ScenarioDefinition | string> = {
  ...withTypes(TEXT),
  schema: SCENARIO_FILE.schema,
};

/**
 * Finds scenarios by name, after those that they extend. The one in the request's body is last.
 *
 * @throws ScenarioError
 */
export async function findScenarios(
  { sandbox, parts }: Pick<ControlCall, 'sandbox' | 'parts'>,
  names: readonly string[],
  sent?: Scenario | Omit<SavedScenario, 'description'>,
): Promise<readonly Scenario[]> {
  // Imported late, since it loads the YAML parser.
  const { readSentScenario, resolveScenarios, scenariosByName } = await import(
    '../../scenario/resolve-scenarios.ts'
  );
  const written = sent && 'text' in sent ? readSentScenario(sent) : sent;
  const source = scenariosByName(parts.platform, knownScenarios(sandbox.state), written);
  return resolveScenarios(written === undefined ? names : [...names, written.name], source);
}

/** The endpoints of a sandbox's own scenarios, and of the text of shipped ones. */
export const OWN_SCENARIO_ENDPOINTS = [
  endpoint('getScenarioSource', 'GET /scenarios/{name}', {
    summary: 'Read a scenario that ships or is your own, as it was written',
    example: { path: 'slow' },
    replies: { 200: ANY_TEXT, 404: 'There is no text of this name.' },
    mediaType: Object.values(MEDIA_TYPES),
    headers: { ETag: 'The version of the text, for `If-Match` of `PUT scenarios/{name}`.' },
  }),
  endpoint('saveScenario', 'PUT /scenarios/{name}', {
    summary: 'Save a scenario of your own in the sandbox',
    description: `In YAML (\`${YAML_TYPE}\`), of at most ${LIMITS.yamlText.toLocaleString('en')} characters, or in JSON, of at most ${LIMITS.jsonText.toLocaleString('en')}. \`PUT scenario\`, \`extends\` and \`Prefer: scenario=NAME\` know it by its name, of ${SCENARIO_NAME_FORM}. Replaces one of that name. If that is active, it stays as it was activated. With \`If-Match\`, replaces only the version that has this ETag. A sandbox has at most ${LIMITS.named}.`,
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
  }),
];
