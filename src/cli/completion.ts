import { ASSUMPTION_IDS, ASSUMPTIONS, isAssumptionId } from '../contract/assumptions.ts';
import { OPERATION_IDS } from '../contract/operations.ts';
import { COMMAND_NAMES } from './commands.ts';
import { flagsOf } from './flags.ts';

/** The flag with which the completion script asks; the words typed so far follow it. */
export const ASKED_BY = '--get-yargs-completions';

const FLAG = '--assume';
const ASSUMPTIONS_COMMAND = 'assumptions';
const RESPONSES_COMMAND = 'responses';
const SCENARIO = '--scenario';

/**
 * What can complete the last word where it names an assumption, an operation or a scenario, or a flag before any
 * command; undefined where yargs, or the shell with its files, knows better.
 *
 * @param words the program's arguments, as the completion script gives them
 */
export async function completionsOf(words: readonly string[]): Promise<string[] | undefined> {
  const typed = words.slice(words.indexOf(ASKED_BY) + 1);
  const [current = '', second = '', third = '', fourth = ''] = typed.toReversed();
  // Bash hands `cancel-again=4` over as three words, and completes the last.
  if (fourth === FLAG && second === '=') return optionsOf(third);
  if (third === FLAG && current === '=') return optionsOf(second);
  if (second === FLAG) return ASSUMPTION_IDS.flatMap(assignments).filter(startsWith(current));
  if (second === SCENARIO) {
    const { shippedScenarios } = await import('../simulation/load-scenario.ts');
    const names = shippedScenarios().map(({ name }) => name);
    const matching = names.filter(startsWith(current));
    return matching.length > 0 ? matching : undefined;
  }
  if (second === ASSUMPTIONS_COMMAND && !current.startsWith('-')) {
    return ASSUMPTION_IDS.filter(startsWith(current));
  }
  if (second === RESPONSES_COMMAND && !current.startsWith('-')) {
    return OPERATION_IDS.filter(startsWith(current));
  }
  // The flags of the command that runs where none is named: yargs offers only those of a named one.
  if (current.startsWith('-') && !COMMAND_NAMES.some((name) => typed.includes(name))) {
    return flagsOf('serve').map((name) => `--${name}`);
  }
  return undefined;
}

function optionsOf(id: string): string[] {
  return isAssumptionId(id) ? ASSUMPTIONS[id].options.map(({ name }) => name) : [];
}

function assignments(id: string): string[] {
  return optionsOf(id).map((option) => `${id}=${option}`);
}

function startsWith(prefix: string): (text: string) => boolean {
  return (text) => text.startsWith(prefix);
}
