import { scenarioText } from '../../scenario/load-scenario.ts';
import { SCENARIO_NAMES } from '../../scenario/scenario-names.ts';
import { scenarioSchema } from '../../scenario/scenario-shape.ts';
import { scenarioFromText } from '../../scenario/scenario-text.ts';
import { object, required } from '../../shape/objects.ts';
import { ANY, ANY_TEXT, named } from '../../shape/shapes.ts';
import { describe, suggest } from '../../words.ts';
import { ERROR, SCENARIO_PROBLEMS } from '../control-shapes.ts';
import { json, type Listed, refuse, withBody } from '../endpoint.ts';

/** The name of a scenario that a request contains. */
export const WRITTEN = 'request';

const SOURCE = named(
  'ScenarioSource',
  object({
    name: required(ANY_TEXT, 'Its name.'),
    text: required(ANY_TEXT, 'Its file, in YAML.'),
  }),
);

/** Scenarios as text, for editors. */
export const SCENARIO_TEXT_ENDPOINTS: readonly Listed[] = [
  {
    id: 'getScenarioSource',
    route: ['get', '/scenarios/{name}'],
    summary: 'Read the file of a shipped scenario',
    replies: {
      200: { description: 'The file.', shape: SOURCE },
      404: { description: 'No such scenario ships.', shape: ERROR },
    },
    handle: ({ params: { name = '' } }) => {
      if (!SCENARIO_NAMES.some((it) => it === name)) {
        const message = `no scenario ${describe(name)} ships${suggest(name, SCENARIO_NAMES)}`;
        return refuse('not_found', 404, message);
      }
      return json({ name, text: scenarioText(name) });
    },
  },
  withBody({
    id: 'checkScenario',
    route: ['post', '/scenario/check'],
    summary: 'Find the problems of a scenario in YAML or JSON',
    description: 'Changes nothing, and reads nothing that the scenario extends.',
    body: { shape: object({ text: required(ANY_TEXT, 'The scenario.') }) },
    replies: { 200: { description: 'The problems.', shape: SCENARIO_PROBLEMS } },
    handle: async ({ body: { text } }) => {
      const reading = await scenarioFromText(WRITTEN, text);
      return json({ problems: reading.ok ? [] : reading.problems });
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
