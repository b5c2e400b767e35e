import { ASSUMPTION_IDS, isAssumptionId, optionNames } from '../../contract/assumption-table.ts';
import { OPERATION_IDS } from '../../contract/operations.ts';
import { COLLECTIONS } from '../../contract/records.ts';
import { SCENARIO_NAMES } from '../../scenario/scenario-names.ts';
import { COMMAND_NAMES } from '../command-table.ts';
import { ACTION_NAMES } from '../ctl/actions.ts';
import { flagsOf, spellingOf } from '../flags.ts';
import { ASKED_BY } from './spelling.ts';

/** The words that can follow a flag or a command. */
const WORDS: Readonly<Record<string, () => readonly string[]>> = {
  '--assume': () => ASSUMPTION_IDS.flatMap(assignments),
  '--allow': () => ASSUMPTION_IDS.flatMap(assignments),
  '--scenario': () => SCENARIO_NAMES,
  scenarios: () => SCENARIO_NAMES,
  assumptions: () => ASSUMPTION_IDS,
  ctl: () => ACTION_NAMES,
  use: () => SCENARIO_NAMES,
  assume: () => ASSUMPTION_IDS.flatMap(assignments),
  get: () => COLLECTIONS,
  set: () => COLLECTIONS,
  responses: () => OPERATION_IDS,
};

/**
 * Completes the last word if it names an assumption, an operation or a scenario, or is a flag before
 * any command. Returns undefined where yargs, or the shell with its files, knows better.
 *
 * @param words the program's arguments, as the completion script gives them
 */
export function completionsOf(words: readonly string[]): string[] | undefined {
  const typed = words.slice(words.indexOf(ASKED_BY) + 1);
  const [current = '', second = '', third = '', fourth = ''] = typed.toReversed();
  // Bash splits `cancel-again=4` into three words and completes the last.
  if (fourth === '--assume' && second === '=') return optionsOf(third);
  if (third === '--assume' && current === '=') return optionsOf(second);
  if (current.startsWith('-')) {
    // yargs offers flags only after the name of a command.
    const named = COMMAND_NAMES.some((name) => typed.includes(name));
    return named ? undefined : flagsOf('serve').map((name) => `--${spellingOf(name)}`);
  }
  const offered = Object.hasOwn(WORDS, second) ? WORDS[second]?.() : undefined;
  const matching = offered?.filter((word) => word.startsWith(current)) ?? [];
  return matching.length > 0 ? matching : undefined;
}

function optionsOf(id: string): string[] {
  return isAssumptionId(id) ? optionNames(id) : [];
}

function assignments(id: string): string[] {
  return optionsOf(id).map((option) => `${id}=${option}`);
}
