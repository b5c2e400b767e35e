import type { Scenario } from './read-scenario.ts';

/** Something wrong in the text of a scenario. Lines and columns count from 1. */
interface TextProblem {
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

type TextReading =
  | { readonly ok: true; readonly scenario: Scenario }
  | { readonly ok: false; readonly problems: readonly TextProblem[] };

/** Characters of a text that is read while clients wait: YAML takes about 2 ms a KiB at worst. */
const MOST_CHARACTERS = 16 * 1024;

const TOO_LONG = {
  line: 1,
  column: 1,
  message: `expected at most ${MOST_CHARACTERS} characters, found more: send the scenario as JSON, or start the server with its file`,
};

/**
 * Reads a scenario from a text in YAML or JSON, of at most 16 Ki characters. Loads nothing that it extends.
 *
 * @param name of the scenario, also in the places of its problems
 */
export async function scenarioFromText(name: string, text: string): Promise<TextReading> {
  if (text.length > MOST_CHARACTERS) return { ok: false, problems: [TOO_LONG] };
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
