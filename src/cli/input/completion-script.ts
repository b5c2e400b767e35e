import type { Argv, Options } from 'yargs';
import { COMMAND_NAMES, COMPLETION, type CommandName, commandShape } from '../command-table.ts';
import { type FlagName, flagShape, flagsOf } from '../flags.ts';
import { ASKED_BY, chooseShell, completionsOf } from './completion.ts';

/**
 * Prints the completion script, or what completes the last of the words that the script asks about,
 * and ends the process, as yargs does.
 *
 * @param words the program's arguments
 * @throws UsageError where there is no script for the shell that they name
 */
export async function complete(words: readonly string[]): Promise<void> {
  if (!words.includes(ASKED_BY)) chooseShell(words[words.indexOf(COMPLETION.name) + 1]);
  // A file of its own beside the bundle.
  const { default: yargs } = await import('yargs');
  // Before yargs starts, since it would not wait for them.
  const completions = words.includes(ASKED_BY) ? await completionsOf(words) : undefined;
  const parser = yargs([...words])
    .scriptName('petstore-mock')
    .locale('en')
    .help(false)
    .version(false)
    .fail(false)
    .completion(COMPLETION.name, COMPLETION.summary, completer(completions));
  for (const command of COMMAND_NAMES) {
    const { positional, summary } = commandShape(command);
    const many = positional?.many ? '..' : '';
    const usage = positional === undefined ? command : `${command} [${positional.name}${many}]`;
    const names = command === 'serve' ? [usage, '$0'] : usage;
    parser.command(names, summary, (it) => declare(it, command));
  }
  await parser.parseAsync();
}

/** In the shape by which yargs knows that its own completions can be asked for too. */
function completer(completions: readonly string[] | undefined) {
  return (
    _word: string,
    _parsed: unknown,
    others: () => void,
    done: (completions: string[]) => void,
  ): void => {
    if (completions === undefined) others();
    else done([...completions]);
  };
}

function declare(parser: Argv, command: CommandName): Argv {
  const { positional } = commandShape(command);
  if (positional !== undefined) parser.positional(positional.name, { type: 'string' });
  return parser.options(Object.fromEntries(flagsOf(command).map((name) => [name, optionOf(name)])));
}

function optionOf(name: FlagName): Options {
  const { type, description, alias = [] } = flagShape(name);
  return { type: type === 'switch' ? 'boolean' : 'string', description, alias };
}
