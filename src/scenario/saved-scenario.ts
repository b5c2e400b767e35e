import { problemLines } from '../shape/places.ts';
import { ScenarioError } from './sandbox-start.ts';
import type { Scenario } from './scenario-shape.ts';
import type { ScenarioFormat } from './scenario-text.ts';

/** A scenario that a sandbox keeps under a name, as it was written. */
export interface SavedScenario {
  readonly name: string;
  readonly description: string;
  readonly format: ScenarioFormat;
  readonly text: string;
}

const READ = new WeakMap<SavedScenario, Scenario>();

/** Reads a saved scenario, once. */
export async function readSaved(saved: SavedScenario): Promise<Scenario> {
  const known = READ.get(saved);
  if (known !== undefined) return known;
  // Imported here, since most starts have no scenario.
  const { readScenarioText } = await import('./scenario-text.ts');
  const { name, format, text } = saved;
  const reading = await readScenarioText(name, format, text, name);
  // It was valid when it was saved.
  if (!reading.ok) throw new ScenarioError(problemLines(name, reading.problems));
  READ.set(saved, reading.scenario);
  return reading.scenario;
}
