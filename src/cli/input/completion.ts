import { ASSUMPTION_IDS, ASSUMPTIONS, isAssumptionId } from '../../contract/assumption-table.ts';
import { OPERATION_IDS } from '../../contract/operations.ts';
import { describe, listed, suggest } from '../../words.ts';
import { COMMAND_NAMES, COMPLETION } from '../command-table.ts';
import { flagsOf } from '../flags.ts';
import { refusal } from './given.ts';

/** The flag with which the completion script asks; the words typed so far follow it. */
export const ASKED_BY = '--get-yargs-completions';

const FLAG = '--assume';
const ASSUMPTIONS_COMMAND = 'assumptions';
const RESPONSES_COMMAND = 'responses';
const SCENARIO = '--scenario';

/** The shells that yargs has a script for. */
const SHELLS = ['bash', 'zsh'];

/**
 * Has the script written for the shell that is named; for the one that `SHELL` names, where none is.
 *
 * @throws UsageError where there is no script for it
 */
export function chooseShell(shell: string | undefined): void {
  if (shell === undefined || shell.startsWith('-')) return;
  if (!SHELLS.includes(shell)) {
    const found = `${describe(shell)}${suggest(shell, SHELLS)}`;
    throw refusal(COMPLETION.name, `${listed(SHELLS, 'or')}, or nothing more`, found);
  }
  // Where yargs looks. Nothing else is done in this process.
  process.env.SHELL = shell;
  process.env.ZSH_NAME = '';
}

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
    const { shippedScenarios } = await import('../../scenario/load-scenario.ts');
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
