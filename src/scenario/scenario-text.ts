import { readJson } from '../shape/json-text.ts';
import { locateProblems, problemLines, repeatedNames, type TextProblem } from '../shape/places.ts';
import { readScenario, type Scenario } from './scenario-shape.ts';

/** The languages of scenario files. */
export type ScenarioFormat = 'json' | 'yaml';

/** The scenario that a text holds, or what is wrong with it. */
export type ScenarioReading =
  | { readonly ok: true; readonly scenario: Scenario }
  | { readonly ok: false; readonly problems: readonly TextProblem[] };

/**
 * Reads the text of a scenario. Loads nothing that it extends.
 *
 * @param file its name in later problems
 */
export async function readScenarioText(
  file: string,
  format: ScenarioFormat,
  text: string,
  name: string,
): Promise<ScenarioReading> {
  // Imported here, since most starts need no YAML parser.
  const read = format === 'json' ? readJson : (await import('./yaml-text.ts')).readYaml;
  const parsed = read(text);
  if (!parsed.ok) return parsed;
  const { source } = parsed;
  const reading = readScenario(source.value, name);
  const problems = [
    ...repeatedNames(source),
    ...(reading.ok ? [] : locateProblems(source, reading.problems)),
  ];
  if (!reading.ok || problems.length > 0) return { ok: false, problems };
  const linesOf: Scenario['linesOf'] = (later) => problemLines(file, locateProblems(source, later));
  return { ok: true, scenario: { ...reading.value, linesOf } };
}

/** Characters of a text that is read while clients wait: YAML takes about 2 ms a KiB at worst. */
const MOST_CHARACTERS: Readonly<Record<ScenarioFormat, number>> = {
  yaml: 16 * 1024,
  json: 128 * 1024,
};

/** The most problems that a client gets. */
const MOST_PROBLEMS = 100;

const AT_START = { line: 1, column: 1 } as const;

/** Reads a scenario from a text in a request. As YAML, that includes JSON. */
export async function scenarioFromText(
  name: string,
  text: string,
  format: ScenarioFormat = 'yaml',
): Promise<ScenarioReading> {
  const most = MOST_CHARACTERS[format];
  if (text.length > most) {
    const others = format === 'json' ? '' : 'send the scenario as JSON, or ';
    const message = `expected at most ${most} characters, found more: ${others}start the server with its file`;
    return { ok: false, problems: [{ ...AT_START, message }] };
  }
  const reading = await readScenarioText(name, format, text, name);
  if (reading.ok || reading.problems.length <= MOST_PROBLEMS) return reading;
  const message = `and ${reading.problems.length - MOST_PROBLEMS} more problems`;
  const problems = [...reading.problems.slice(0, MOST_PROBLEMS), { ...AT_START, message }];
  return { ok: false, problems };
}
