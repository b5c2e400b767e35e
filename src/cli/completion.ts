import { ASSUMPTION_IDS, ASSUMPTIONS, isAssumptionId } from '../contract/assumptions.ts';

/** The flag with which the completion script asks; the words typed so far follow it. */
const ASKED_BY = '--get-yargs-completions';

const FLAG = '--assume';
const COMMAND = 'assumptions';

/**
 * What can complete the last word where it names an assumption; undefined where it names none.
 *
 * @param words the program's arguments, as the completion script gives them
 */
export function completeAssumption(words: readonly string[]): string[] | undefined {
  const typed = words.slice(words.indexOf(ASKED_BY) + 1);
  const [command, id, equals, current] = [
    typed.at(-4) ?? '',
    typed.at(-3) ?? '',
    typed.at(-2) ?? '',
    typed.at(-1) ?? '',
  ];
  // Bash hands `cancel-again=4` over as three words, and completes the last.
  if (command === FLAG && equals === '=') return optionsOf(id);
  if (id === FLAG && current === '=') return optionsOf(equals);
  if (equals === FLAG) return ASSUMPTION_IDS.flatMap(assignments).filter(startsWith(current));
  if (equals === COMMAND && !current.startsWith('-')) {
    return ASSUMPTION_IDS.filter(startsWith(current));
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
