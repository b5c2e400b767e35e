import { join } from 'node:path';
import yargs, { type Argv } from 'yargs';
import { ASSUMPTION_IDS, isAssumptionId, optionNames } from '../contract/assumption-table.ts';
import { OPERATION_IDS } from '../contract/operations.ts';
import { COLLECTIONS } from '../contract/records.ts';
import { packageRoot } from '../package.ts';
import { SCENARIO_NAMES } from '../scenario/scenario-names.ts';
import { type Command, oneOf } from './command.ts';
import { COMMAND_NAMES, type CommandName, commandShape } from './command-table.ts';
import { ACTION_NAMES, actionShape } from './commands/ctl-actions.ts';
import { FLAG_GROUPS } from './flag-table.ts';
import { flagShape, flagsOf, isFlagName, spellingOf } from './flags.ts';
import { variableOf } from './read-flags.ts';

const ABOUT = 'A local mock server for the pet store service, for developers of its clients.';

const CONFIGURED_ELSEWHERE = `Each flag can also be an environment variable (--read-only-key is ${variableOf('readOnlyKey')}; commas separate repeated values, 1 and 0 turn a switch on and off) or a member of the JSON object in the --config file. A flag wins over a variable, and a variable over the file.`;

const GUIDE = `For scripts and agents: ${join(packageRoot, 'docs/agents.md')}`;

/**
 * The help of a command. That of `serve` is the help of the program.
 *
 * @param width in columns
 */
export function helpOf(command: CommandName, width: number): Promise<string> {
  return printedFor(command === 'serve' ? ['--help'] : [command, '--help'], width);
}

/** What yargs prints for words. */
async function printedFor(words: readonly string[], width: number): Promise<string> {
  const parser = yargs()
    .scriptName('petstore-mock')
    .locale('en')
    .usage(`$0 [COMMAND] [FLAGS]\n\n${ABOUT}`)
    .wrap(width)
    .fail(false)
    .version(false)
    .help('help', flagShape('help').description);
  for (const name of COMMAND_NAMES) {
    const { summary } = commandShape(name);
    parser.command(spellingsOf(name), summary, (inner) => explained(inner, name));
  }
  let text = '';
  await parser.parse(words, {}, (_error, _argv, output) => {
    text ||= output;
  });
  return `${text}\n`;
}

function spellingsOf(name: CommandName): string[] {
  const { aliases = [], takes, runs } = commandShape(name);
  const [, word, more = ''] = (!runs && /(\w+)(…?)/.exec(takes[0])) || [];
  const positional = word ? ` [${word}${more && '..'}]` : '';
  return [`${name}${positional}`, ...aliases, ...(name === 'serve' ? ['$0'] : [])];
}

/** Adds what the help and the completion of a command show. */
function explained(parser: Argv, command: CommandName): Argv {
  const { takes, summary, examples } = commandShape(command);
  if (command !== 'serve') {
    const actions = command === 'ctl' ? `\n\n${actionLines()}` : '';
    parser.usage(`$0 ${command} [FLAGS] ${takes[0]}\n\n${summary}${actions}`);
  }
  for (const [group, flags] of Object.entries(FLAG_GROUPS)) {
    for (const name of Object.keys(flags).filter(isFlagName)) {
      const { commands, alias, description } = flagShape(name);
      if (!commands.includes(command)) continue;
      parser.option(spellingOf(name), {
        description,
        group: `${group}:`,
        ...(alias !== undefined && { alias }),
      });
    }
  }
  for (const [line, effect] of examples) parser.example(`# ${effect}\n$0 ${line}`, '');
  return command === 'serve' ? parser.epilogue(`${CONFIGURED_ELSEWHERE}\n\n${GUIDE}`) : parser;
}

/** The actions of `ctl` with what each does. */
function actionLines(): string {
  const rows = ACTION_NAMES.map((name) => {
    const { takes, summary } = actionShape(name);
    return `- ${`${name} ${takes[0]}`.trimEnd()}: ${summary}`;
  });
  return ['Actions:', ...rows].join('\n');
}

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
 * The words that can come last on a command line.
 *
 * @param words the program's arguments, as the completion script gives them
 */
export async function completionsOf(words: readonly string[]): Promise<string> {
  const own = ownCompletions(words.slice(1));
  return own === undefined ? printedFor(words, 80) : `${own.join('\n')}\n`;
}

/**
 * Completes the last word if it names an assumption, an operation or a scenario, or is a flag before
 * any command. Returns undefined where yargs, or the shell with its files, knows better.
 */
function ownCompletions(typed: readonly string[]): string[] | undefined {
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

/** The shells that yargs has a script for. */
const SHELLS = ['bash', 'zsh', 'fish'];

/** Prints the script with which a shell completes commands and flags. */
export const completion: Command = ({ positionals: [shell] }) => {
  if (shell !== undefined) {
    // yargs reads these variables. This process does nothing else.
    process.env.SHELL = oneOf(SHELLS, shell, 'completion');
    process.env.ZSH_NAME = '';
  }
  yargs().scriptName('petstore-mock').showCompletionScript();
  return { exitCode: 0 };
};
