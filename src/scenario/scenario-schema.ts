import type { Json } from '../shape/shapes.ts';
import { SCENARIO } from './read-scenario.ts';

/** The JSON Schema of scenario files, from the shape that reads them. */
export function scenarioSchema(): Json {
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'A scenario of petstore-mock',
    description: 'Forces states and replies on top of a fixture.',
    ...SCENARIO.schema,
  };
}
