import { STORED_RECORDS } from '../../core/contract/records.ts';
import { isObject } from '../../core/json.ts';
import {
  ContentError,
  formatProblem,
  type TextProblem,
  type TextReading,
} from '../../core/problems.ts';
import { createStart } from '../../core/sandbox/start.ts';
import { readJson } from '../../core/shape/source-text.ts';
import { readText, STORE_LIMIT } from '../../server/files.ts';
import { loadStore, parseFixture } from '../../server/fixtures.ts';
import type { StoreChoice } from '../../server/options.ts';
import { loadScenarios } from '../../server/scenarios.ts';
import { escapeControls } from '../../terminal/terminal.ts';
import { checkRules } from '../check-rules.ts';
import type { ProgramCommand } from '../flags.ts';

/** Checks scenario and fixture files. Their problems are its output, not its errors. */
export const validate: ProgramCommand = async ({ flags, positionals }) => {
  const results: (Validity & { readonly file: string })[] = [];
  for (const file of positionals) results.push({ file, ...(await validateFile(file, flags)) });
  const lines = results.flatMap(({ file, problems, warnings }) => [
    ...warnings.map((warning) =>
      formatProblem({ ...warning, message: `warning: ${warning.message}` }),
    ),
    ...(problems.length === 0 ? [`${file}: valid`] : problems.map(formatProblem)),
  ]);
  const isValid = results.every(({ problems }) => problems.length === 0);
  const text = `${lines.map(escapeControls).join('\n')}\n`;
  return { text, json: results, exitCode: isValid ? 0 : 2 };
};

export async function validateFile(file: string, base: StoreChoice = {}): Promise<Validity> {
  // A pipe can be read only once.
  const read = await readText(file, STORE_LIMIT);
  try {
    if (isFixture(file, read)) parseFixture(file, read);
    else {
      const texts = new Map(read.ok ? [[file, read]] : []);
      const scenarios = await loadScenarios([file], undefined, texts);
      createStart({}, await loadStore(base), scenarios);
      const own = scenarios.at(-1);
      return { problems: [], warnings: own ? own.locate(checkRules(own)) : [] };
    }
    return { problems: [], warnings: [] };
  } catch (error) {
    if (error instanceof ContentError) return { problems: error.problems, warnings: [] };
    throw error;
  }
}

interface Validity {
  readonly problems: readonly TextProblem[];
  /** Replies that the document does not allow. */
  readonly warnings: readonly TextProblem[];
}

/** Only a fixture has collections at the top. */
function isFixture(file: string, read: TextReading): boolean {
  if (!read.ok || /\.ya?ml$/i.test(file)) return false;
  const reading = readJson(file, read.text);
  const value = reading.ok ? reading.value : undefined;
  return isObject(value) && Object.keys(STORED_RECORDS).some((name) => Array.isArray(value[name]));
}
