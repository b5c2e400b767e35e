import { internal, object } from '../shape/objects.ts';
import { ANY, ANY_TEXT, choice, type ValueOf } from '../shape/shapes.ts';
import { ScenarioError } from './sandbox-start.ts';
import { readScenario, type Scenario } from './scenario-shape.ts';

/** Where a scenario comes from, so that another server with the same files can load it. */
export const SCENARIO_SOURCE = object({
  /** The files of the start, the package, or a request. */
  from: internal.required(choice(['start', 'package', 'request'])),
  name: internal.required(ANY_TEXT),
  /** The scenario itself, if it came in a request. */
  definition: internal.optional(ANY),
});

export type ScenarioSource = ValueOf<typeof SCENARIO_SOURCE>;

/** @param started the scenarios that the server started with */
export function sourceOf(scenario: Scenario, started: readonly Scenario[]): ScenarioSource {
  const { name, file, definition } = scenario;
  if (started.includes(scenario)) return { from: 'start', name };
  return file === undefined ? { from: 'request', name, definition } : { from: 'package', name };
}

/**
 * Loads a scenario from its source.
 *
 * @throws ScenarioError if there is none
 */
export async function scenarioFrom(
  { from, name, definition }: ScenarioSource,
  started: readonly Scenario[],
): Promise<Scenario> {
  if (from === 'package') {
    // Imported here: only servers of a fleet load each other's scenarios.
    const { loadScenarios } = await import('./load-scenario.ts');
    const scenario = (await loadScenarios([name])).at(-1);
    if (scenario !== undefined) return scenario;
  } else if (from === 'start') {
    const scenario = started.find((it) => it.name === name);
    if (scenario !== undefined) return scenario;
  } else {
    const reading = readScenario(definition, name);
    if (reading.ok) return reading.value;
  }
  throw new ScenarioError([`${name}: expected a scenario of the ${from}, found none`]);
}
