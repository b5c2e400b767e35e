import { problemText } from '../words.ts';
import { readScenario } from './read-scenario.ts';
import type { Scenario } from './scenario.ts';

/** Something wrong in the text of a scenario. Lines and columns count from 1. */
export interface TextProblem {
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

type TextReading =
  | { readonly ok: true; readonly scenario: Scenario }
  | { readonly ok: false; readonly problems: readonly TextProblem[] };

/**
 * Reads a scenario from a text in YAML or JSON. Loads nothing that it extends.
 *
 * @param name of the scenario, also in the places of its problems
 */
export async function scenarioFromText(name: string, text: string): Promise<TextReading> {
  const { parseScenario } = await import('./scenario-text.ts');
  const parsed = await parseScenario(name, 'yaml', text);
  const lines = parsed.problems.map((it) => (typeof it === 'string' ? it : problemText(it)));
  if (!parsed.ok) return { ok: false, problems: lines.map(placed) };
  const { placeOf, problemOf } = parsed;
  const reading = readScenario(parsed.value, name);
  if (!reading.ok) lines.push(...reading.problems.map((it) => problemText(problemOf(it))));
  if (!reading.ok || lines.length > 0) return { ok: false, problems: lines.map(placed) };
  return { ok: true, scenario: { ...reading.value, placeOf } };
}

/** Takes `NAME:LINE:COLUMN: MESSAGE` apart. */
function placed(text: string): TextProblem {
  const [, line = '1', column = '1', message = text] =
    /^[^:]*:(\d+):(\d+): (.*)$/s.exec(text) ?? [];
  return { line: Number(line), column: Number(column), message };
}
