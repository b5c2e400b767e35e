import yargs, { type Argv, type Options } from 'yargs';
import { describe } from '../contract/records.ts';
import { suggest } from '../store/read-store.ts';
import { COMMAND_NAMES, COMPLETION, type CommandName, commandShape, isRunner } from './commands.ts';
import { ASKED_BY, completionsOf } from './completion.ts';
import { UsageError } from './errors.ts';
import { type FlagName, flagShape, flagsOf, isFlagName } from './flags.ts';
import { type Given, type Layer, refusal } from './given.ts';

/** What the command line asks for. */
export interface Invocation {
  readonly command: CommandName;
  /** What follows the command's name, or after `--` is to be run. */
  readonly positionals: readonly string[];
  readonly flags: Layer;
}

/** What yargs makes of a command line. */
interface Parsed {
  readonly _: readonly (string | number)[];
  readonly [name: string]: unknown;
}

/**
 * Reads the command line. Asked for the completion script, or for what completes a word, it prints
 * that and ends the process, as yargs does.
 *
 * @throws UsageError where a command or flag does not exist, or a flag lacks its value
 */
export async function parseArguments(all: readonly string[]): Promise<Invocation> {
  const { words, toRun } = apart(all);
  let invocation: Invocation | undefined;
  // Before yargs starts, since it would not wait for them.
  const completions = words.includes(ASKED_BY) ? await completionsOf(words) : undefined;
  const parser = parserFor(words, completions);
  for (const command of COMMAND_NAMES) {
    const { positional, summary } = commandShape(command);
    const many = positional?.many ? '..' : '';
    const usage = positional === undefined ? command : `${command} [${positional.name}${many}]`;
    parser.command(
      command === 'serve' ? [usage, '$0'] : usage,
      summary,
      (it) => declare(it, command),
      (parsed) => {
        const { positionals, ...asked } = invocationOf(command, parsed, words);
        invocation = { ...asked, positionals: commandShape(command).runs ? toRun : positionals };
      },
    );
  }
  await parser.parseAsync();
  if (invocation === undefined) throw new Error('yargs ran no command.');
  return invocation;
}

/** Takes apart what is ours and the command that is to be run, of which no word is ours to read. */
function apart(all: readonly string[]): {
  words: readonly string[];
  toRun: readonly string[];
} {
  const end = all.indexOf('--');
  if (end < 0 || !all.slice(0, end).some(isRunner)) return { words: all, toRun: [] };
  return { words: all.slice(0, end), toRun: all.slice(end + 1) };
}

function parserFor(words: readonly string[], completions: readonly string[] | undefined): Argv {
  return (
    yargs(words.map(unnegated))
      .scriptName('petstore-mock')
      .locale('en')
      // A flag means one thing, spelt one way; what a value is worth is decided with its range.
      .parserConfiguration({
        'camel-case-expansion': false,
        'dot-notation': false,
        'strip-aliased': true,
        'parse-numbers': false,
        'parse-positional-numbers': false,
      })
      .help(false)
      .version(false)
      .fail(false)
      .completion(COMPLETION.name, COMPLETION.summary, completer(completions))
  );
}

/** yargs takes `--no-control` for a `--control` that is off, also where a flag has that name. */
function unnegated(word: string): string {
  const name = word.slice('--'.length);
  return word.startsWith('--no-') && isFlagName(name) ? `${word}=true` : word;
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

function invocationOf(command: CommandName, parsed: Parsed, words: readonly string[]): Invocation {
  const { positional: described } = commandShape(command);
  const named = parsed._[0] === command;
  const surplus = parsed._[named ? 1 : 0];
  if (surplus !== undefined) throw unexpectedWord(command, named, String(surplus));
  const following = described === undefined ? undefined : parsed[described.name];
  const positionals: readonly unknown[] = Array.isArray(following) ? following : [following];
  return {
    command,
    positionals: positionals.filter((it) => typeof it === 'string'),
    flags: flagsIn(command, parsed, words),
  };
}

const EXAMPLE = 'petstore-mock exec -- npm test';

function unexpectedWord(command: CommandName, named: boolean, word: string): UsageError {
  if (named && isRunner(command)) {
    return refusal(command, `flags, then -- and a command, as in ${EXAMPLE}`, describe(word));
  }
  if (named) return refusal(command, 'only flags', describe(word));
  const commands = [...COMMAND_NAMES, COMPLETION.name, '--help'];
  return new UsageError(
    `${describe(word)} is no command${suggest(word, commands)}; petstore-mock --help lists them`,
  );
}

/** What yargs adds to the flags. */
const NO_FLAGS = ['_', '$0'];

function flagsIn(command: CommandName, parsed: Parsed, words: readonly string[]): Layer {
  const flags = new Map<FlagName, Given>();
  const known = flagsOf(command);
  const positional = commandShape(command).positional?.name;
  for (const [name, value] of Object.entries(parsed)) {
    if (NO_FLAGS.includes(name) || name === positional || value === undefined) continue;
    const negatedValue = value === false && isFlagName(name) && flagShape(name).type !== 'switch';
    if (!isFlagName(name) || !known.includes(name) || negatedValue) {
      throw unknownFlag(command, spelling(name, words));
    }
    const origin = `--${name}`;
    const values: readonly unknown[] = Array.isArray(value) ? value : [value];
    const texts = flagShape(name).type === 'switch' ? [switched(name, value, words)] : values;
    if (texts.includes('')) throw refusal(origin, `a value (${flagShape(name).value})`, 'none');
    flags.set(name, { texts: texts.map(String), origin });
  }
  return flags;
}

/** yargs takes every value but `true` for false; a slip such as `--plain=yes` must not. */
function switched(name: FlagName, value: unknown, words: readonly string[]): string {
  const prefix = `--${name}=`;
  const word = words.find((it) => it.startsWith(prefix));
  return word === undefined ? String(value) : word.slice(prefix.length);
}

/** How a flag was written: yargs has dropped its dashes, and taken `-port` for four flags. */
function spelling(name: string, words: readonly string[]): string {
  const written = words.map((word) => word.replace(/=.*$/s, ''));
  const long = written.find((word) => word === `--${name}` || word === `--no-${name}`);
  const short = written.find((word) => /^-[^-]/.test(word) && word.includes(name));
  return long ?? short ?? `--${name}`;
}

function unknownFlag(command: CommandName, flag: string): UsageError {
  const help = command === 'serve' ? 'petstore-mock --help' : `petstore-mock ${command} --help`;
  return new UsageError(
    `${flag} is no flag of ${command}${hint(command, flag)}; ${help} lists them`,
  );
}

function hint(command: CommandName, flag: string): string {
  const name = flag.replace(/^-+/, '');
  const known = flagsOf(command);
  const [owner] = isFlagName(name) && !known.includes(name) ? flagShape(name).commands : [];
  if (owner !== undefined) return ` (${owner} has one)`;
  const initial = known.find((it) => name.length === 1 && it.startsWith(name));
  const switches = known.filter((it) => flagShape(it).type === 'switch' && !it.startsWith('no-'));
  const spellings = [...known, ...switches.map((it) => `no-${it}`)];
  return suggest(initial ?? name, spellings).replace('mean ', 'mean --');
}
