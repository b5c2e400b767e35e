import { join } from 'node:path';
import yargs, { type Argv } from 'yargs';
import { ASSUMPTION_IDS, optionsOf } from '../core/contract/assumption-table.ts';
import { OPERATION_IDS } from '../core/contract/operations.ts';
import { SCENARIO_NAMES } from '../core/scenario/scenario-names.ts';
import { packageRoot } from '../server/files.ts';
import { COMMAND_NAMES, type CommandName, commandShape } from './command-table.ts';
import { ACTION_NAMES, actionLines } from './commands/ctl-actions.ts';
import { ALIASES, FLAG_GROUPS, flagShape, listFlags, spell, variableFor } from './flags.ts';

const ABOUT = 'A local mock server for the pet store service, for developers of its clients.';

const CONFIGURED_ELSEWHERE = `Each flag can also be an environment variable (--read-only-key is ${variableFor('readOnlyKey')}; commas separate repeated values, true and false turn a switch on and off) or a member of the JSON object in the --config file. A flag wins over a variable, and a variable over the file.`;

const GUIDE = `For scripts and agents: ${join(packageRoot, 'SKILL.md')}`;

const OPTIONS = ASSUMPTION_IDS.flatMap((id) => optionsOf(id).map((name) => `${id}=${name}`));

type Completions = Readonly<Record<string, readonly string[]>>;

/** What completes the words of a command, or the value of a flag. The help does not list them. */
const COMPLETIONS: Completions = {
  assume: OPTIONS,
  allow: OPTIONS,
  scenario: SCENARIO_NAMES,
  scenarios: SCENARIO_NAMES,
  assumptions: ASSUMPTION_IDS,
  responses: OPERATION_IDS,
  ctl: ACTION_NAMES,
};

/** The help of a command. That of `serve` is the help of the program. */
export function renderHelp(command: CommandName, width: number): Promise<string> {
  const words = command === 'serve' ? ['--help'] : [command, '--help'];
  return runYargs(describeProgram(width), words);
}

/** The words that can follow those typed so far, a line each, for the script of a shell. */
export async function listCompletions(words: readonly string[]): Promise<string> {
  const listed = await runYargs(describeProgram(LONG_LINES, COMPLETIONS), joinAssignment(words));
  // Bash completes only what stands behind the sign at which it splits.
  return words.includes('=') ? listed.replaceAll(/^.*=/gm, '') : listed;
}

/** The script with which a shell asks for completions. With a default command, yargs forgets it. */
export function renderCompletionScript(): Promise<string> {
  const parser = yargs([], packageRoot).scriptName('petstore-mock').completion('completion');
  return runYargs(parser, ['completion']);
}

const LONG_LINES = Number.POSITIVE_INFINITY;

async function runYargs(parser: Argv, words: readonly string[]): Promise<string> {
  let text = '';
  await parser.parse(words, {}, (_error, _argv, output) => {
    text = output;
  });
  return text === '' ? '' : `${text}\n`;
}

function describeProgram(width: number, completions: Completions = {}): Argv {
  // The working directory may be gone, and yargs would look for a package there.
  const parser = yargs([], packageRoot)
    .scriptName('petstore-mock')
    .locale('en')
    .usage(`$0 [COMMAND] [FLAGS]\n\n${ABOUT}`)
    .wrap(Number.isFinite(width) ? width : null)
    .parserConfiguration({ 'boolean-negation': false })
    .boolean(['help', 'version'])
    .help('help', flagShape('help').description)
    .version(false);
  for (const command of COMMAND_NAMES) {
    const { aliases = [], summary, takes, runs } = commandShape(command);
    const [, word, more] = (!runs && /(\w+)(…?)/.exec(takes[0])) || [];
    const usage = word === undefined ? command : `${command} [${word}${more && '..'}]`;
    const names = [usage, ...aliases, ...(command === 'serve' ? ['$0'] : [])];
    parser.command(names, summary, (inner) => {
      describeCommand(inner, command);
      describeFlags(inner, command, completions);
      const choices = completions[command];
      return word !== undefined && choices ? inner.positional(word, { choices }) : inner;
    });
  }
  return parser;
}

/** What the help of a command shows besides its flags. */
function describeCommand(parser: Argv, command: CommandName): void {
  const { takes, summary, about, examples } = commandShape(command);
  const more = [about, command === 'ctl' ? actionLines() : undefined].flatMap((text) => text ?? []);
  if (command === 'serve') parser.epilogue(`${CONFIGURED_ELSEWHERE}\n\n${GUIDE}`);
  else parser.usage([`$0 ${command} [FLAGS] ${takes[0]}`, summary, ...more].join('\n\n'));
  for (const [line, effect] of examples) parser.example(`# ${effect}\n$0 ${line}`, '');
}

function describeFlags(parser: Argv, command: CommandName, completions: Completions): void {
  const own = listFlags(command);
  for (const [group, flags] of Object.entries(FLAG_GROUPS)) {
    for (const name of own.filter((flag) => Object.hasOwn(flags, flag))) {
      const { description } = flagShape(name);
      const choices = completions[spell(name)];
      const alias = ALIASES[name];
      parser.option(spell(name), { description, group: `${group}:`, alias, choices });
    }
  }
}

function joinAssignment([asks = '', program = '', ...typed]: readonly string[]): string[] {
  // yargs completes flags only after the name of a command.
  const isOfServe = !COMMAND_NAMES.some((name) => typed.includes(name));
  const command = isOfServe && typed.some((word) => word.startsWith('-')) ? ['serve'] : [];
  // Bash splits `cancel-again=4` into three words.
  const whole = typed.join('\n').replace(/\n=(?:\n|$)/, '=');
  return [asks, program, ...command, ...whole.split('\n')];
}
