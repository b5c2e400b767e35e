import { join } from 'node:path';
import yargs, { type Argv } from 'yargs';
import { ASSUMPTION_IDS, optionNames } from '../contract/assumption-table.ts';
import { OPERATION_IDS } from '../contract/operations.ts';
import { packageRoot } from '../package.ts';
import { SCENARIO_NAMES } from '../scenario/scenario-names.ts';
import { isNameOf } from '../tables.ts';
import { COMMAND_NAMES, type CommandName, commandShape } from './command-table.ts';
import { ACTION_NAMES, actionShape } from './commands/ctl-actions.ts';
import { FLAG_GROUPS } from './flag-table.ts';
import { FLAGS, flagShape, spellingOf } from './flags.ts';
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

const OPTIONS = ASSUMPTION_IDS.flatMap((id) => optionNames(id).map((name) => `${id}=${name}`));

/** The values that complete flags, and the words that complete commands. */
const COMPLETIONS: Readonly<Record<string, readonly string[]>> = {
  assume: OPTIONS,
  allow: OPTIONS,
  scenario: SCENARIO_NAMES,
  scenarios: SCENARIO_NAMES,
  assumptions: ASSUMPTION_IDS,
  responses: OPERATION_IDS,
  ctl: ACTION_NAMES,
};

/**
 * The words that can come last on a command line.
 *
 * @param words the program's arguments, as the completion script gives them
 */
export async function completionsOf([asks = '', program = '', ...typed]: readonly string[]) {
  // yargs completes flags only after the name of a command.
  const isOfServe = !COMMAND_NAMES.some((name) => typed.includes(name));
  const command = isOfServe && typed.some((word) => word.startsWith('-')) ? ['serve'] : [];
  // Bash splits `cancel-again=4` into three words and completes the last.
  const whole = typed
    .join('\n')
    .replace(/\n=(?:\n|$)/, '=')
    .split('\n');
  const text = await printedFor([asks, program, ...command, ...whole], 80, COMPLETIONS);
  return whole.length < typed.length ? text.replaceAll(/^.*=/gm, '') : text;
}

/** What yargs prints for words. */
async function printedFor(
  words: readonly string[],
  width: number,
  completions: typeof COMPLETIONS = {},
): Promise<string> {
  const parser = yargs()
    .scriptName('petstore-mock')
    .locale('en')
    .usage(`$0 [COMMAND] [FLAGS]\n\n${ABOUT}`)
    .wrap(width)
    .fail(false)
    .version(false)
    .help('help', flagShape('help').description);
  for (const command of COMMAND_NAMES) {
    const { aliases = [], takes, runs, summary, examples } = commandShape(command);
    const [, word = '', more = ''] = (!runs && /(\w+)(…?)/.exec(takes[0])) || [];
    const spellings = [
      word === '' ? command : `${command} [${word}${more && '..'}]`,
      ...aliases,
      ...(command === 'serve' ? ['$0'] : []),
    ];
    parser.command(spellings, summary, (inner) => {
      if (command !== 'serve') {
        const actions = command === 'ctl' ? `\n\n${actionLines()}` : '';
        inner.usage(`$0 ${command} [FLAGS] ${takes[0]}\n\n${summary}${actions}`);
      }
      if (word !== '') inner.positional(word, { choices: completions[command] });
      addFlags(inner, command, completions);
      for (const [line, effect] of examples) inner.example(`# ${effect}\n$0 ${line}`, '');
      if (command === 'serve') inner.epilogue(`${CONFIGURED_ELSEWHERE}\n\n${GUIDE}`);
      return inner;
    });
  }
  let text = '';
  await parser.parse(words, {}, (_error, _argv, output) => {
    text ||= output;
  });
  return `${text}\n`;
}

function addFlags(parser: Argv, command: CommandName, completions: typeof COMPLETIONS): void {
  for (const [group, flags] of Object.entries(FLAG_GROUPS)) {
    for (const name of Object.keys(flags).filter((it) => isNameOf(FLAGS, it))) {
      const { commands, alias, description } = flagShape(name);
      if (!commands.includes(command)) continue;
      parser.option(spellingOf(name), {
        description,
        group: `${group}:`,
        alias,
        choices: completions[spellingOf(name)],
      });
    }
  }
}

/** The actions of `ctl` with what each does. */
function actionLines(): string {
  const rows = ACTION_NAMES.map((name) => {
    const { takes, summary } = actionShape(name);
    return `- ${`${name} ${takes[0]}`.trimEnd()}: ${summary}`;
  });
  return ['Actions:', ...rows].join('\n');
}
