import type { Scenario } from './scenario.ts';

/** Something wrong in the text of a scenario. Lines and columns count from 1. */
interface TextProblem {
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
  const { readScenarioText } = await import('./scenario-text.ts');
  const { scenario, problems } = readScenarioText(name, 'yaml', text, name);
  return scenario === undefined || problems.length > 0
    ? { ok: false, problems: problems.map(placed) }
    : { ok: true, scenario };
}

/** Takes `NAME:LINE:COLUMN: MESSAGE` apart. */
function placed(text: string): TextProblem {
  const [, line = '1', column = '1', message = text] =
    /^[^:]*:(\d+):(\d+): (.*)$/s.exec(text) ?? [];
  return { line: Number(line), column: Number(column), message };
}
