import { ASSUMPTION_IDS, isAssumptionId, optionNames } from '../../contract/assumption-table.ts';
import { OPERATION_IDS } from '../../contract/operations.ts';
import { COMMAND_NAMES } from '../command-table.ts';
import { flagsOf } from '../flags.ts';

/** The flag with which the shell's script asks yargs; the words typed so far follow it. */
export const ASKED_BY = '--get-yargs-completions';

/**
 * What can complete the last word if it names an assumption, an operation or a scenario, or is a flag
 * before any command. Undefined: yargs, or the shell with its files, knows better.
 *
 * @param words the program's arguments, as the completion script gives them
 */
export async function completionsOf(words: readonly string[]): Promise<string[] | undefined> {
  const typed = words.slice(words.indexOf(ASKED_BY) + 1);
  const [current = '', second = '', third = '', fourth = ''] = typed.toReversed();
  // Bash splits `cancel-again=4` into three words and completes the last.
  if (fourth === '--assume' && second === '=') return optionsOf(third);
  if (third === '--assume' && current === '=') return optionsOf(second);
  if (second === '--assume') {
    return ASSUMPTION_IDS.flatMap(assignments).filter(startsWith(current));
  }
  if (second === '--scenario' || second === 'scenarios') {
    const { shippedScenarios } = await import('../../scenario/load-scenario.ts');
    const names = shippedScenarios().map(({ name }) => name);
    const matching = names.filter(startsWith(current));
    return matching.length > 0 ? matching : undefined;
  }
  if (second === 'assumptions' && !current.startsWith('-')) {
    return ASSUMPTION_IDS.filter(startsWith(current));
  }
  if (second === 'responses' && !current.startsWith('-')) {
    return OPERATION_IDS.filter(startsWith(current));
  }
  // yargs offers the flags only of a command that is named.
  if (current.startsWith('-') && !COMMAND_NAMES.some((name) => typed.includes(name))) {
    return flagsOf('serve').map((name) => `--${name}`);
  }
  return undefined;
}

function optionsOf(id: string): string[] {
  return isAssumptionId(id) ? optionNames(id) : [];
}

function assignments(id: string): string[] {
  return optionsOf(id).map((option) => `${id}=${option}`);
}

function startsWith(prefix: string): (text: string) => boolean {
  return (text) => text.startsWith(prefix);
}
