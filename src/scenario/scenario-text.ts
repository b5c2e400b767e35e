import { LIMITS } from '../limits.ts';
import { readJson } from '../shape/source-text.ts';
import { ScenarioError } from './sandbox-start.ts';
import { readScenario, type SavedScenario, type Scenario } from './scenario-shape.ts';

export async function readScenarioText(
  file: string,
  { name, format, text }: Omit<SavedScenario, 'description'>,
): Promise<Scenario> {
  // Imported here, since most starts need no YAML parser.
  const read = format === 'json' ? readJson : (await import('./yaml-text.ts')).readYaml;
  const parsed = read(file, text);
  if (!parsed.ok) throw new ScenarioError(parsed.problems);
  const { value, locate } = parsed;
  const reading = readScenario(value, name);
  if (!reading.ok) throw new ScenarioError(locate(reading.problems));
  return { ...reading.value, locate };
}

const MAX_LENGTH: Readonly<Record<SavedScenario['format'], number>> = {
  yaml: LIMITS.yamlText.max,
  json: LIMITS.jsonText.max,
};

export async function scenarioFromText(
  name: string,
  text: string,
  format: SavedScenario['format'] = 'yaml',
): Promise<Scenario> {
  const max = MAX_LENGTH[format];
  if (text.length <= max) return readScenarioText(name, { name, format, text });
  const others = format === 'json' ? '' : 'send the scenario as JSON, or ';
  const expected = `at most ${max} characters`;
  const message = `expected ${expected}, found more: ${others}start the server with its file`;
  const place = { file: name, line: 1, column: 1 };
  throw new ScenarioError([{ ...place, path: '$', expected, found: 'more', message }]);
}

const READ = new WeakMap<SavedScenario, Promise<Scenario>>();

/** Reads a saved scenario, once. It was valid when it was saved. */
export function readSaved(saved: SavedScenario): Promise<Scenario> {
  const reading = READ.get(saved) ?? readScenarioText(saved.name, saved);
  READ.set(saved, reading);
  return reading;
}
