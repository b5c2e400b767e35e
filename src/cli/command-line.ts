import parse from 'yargs-parser';
import { describe, suggest } from '../words.ts';
import { UsageError } from './command.ts';
import { COMMAND_NAMES, type CommandName, commandShape } from './command-table.ts';
import {
  FLAG_NAMES,
  type FlagName,
  flagOn,
  flagShape,
  flagSpelled,
  flagsOf,
  spellingOf,
} from './flags.ts';
import { flagInput, type Layer } from './settings.ts';
import { escaped } from './terminal.ts';

/** The flag with which the shell's script asks yargs; the words typed so far follow it. */
export const COMPLETION_FLAG = '--get-yargs-completions';

/** How yargs reads words. Values stay text, as those of the environment and of config files are. */
export const PARSER = {
  'boolean-negation': false,
  'camel-case-expansion': false,
  'dot-notation': false,
  'parse-numbers': false,
  'parse-positional-numbers': false,
  'populate--': true,
  'short-option-groups': false,
  'strip-aliased': true,
} as const;

const NAME_BY_LETTER = new Map<string, string>(
  FLAG_NAMES.filter((name) => flagShape(name).alias !== undefined).map((name) => {
    return [`-${flagShape(name).alias}`, `--${spellingOf(name)}`];
  }),
);

/** The words before `--`: what follows belongs to the command to run. */
function ownWords(words: readonly string[]): readonly string[] {
  return words.includes('--') ? words.slice(0, words.indexOf('--')) : words;
}

/** Gives every switch its name and value: `-v` becomes `--version=true`, `--no-plain` `--plain=false`. */
export function spelledOut(words: readonly string[]): string[] {
  const ours = ownWords(words);
  const spelled = ours.map((short) => {
    const word = NAME_BY_LETTER.get(short) ?? short;
    const [, no = '', name = ''] = /^--(no-)?(.*)$/s.exec(word) ?? [];
    if (isSwitch(no + name)) return `${word}=true`;
    return isSwitch(name) ? `--${name}=false` : word;
  });
  return [...spelled, ...words.slice(ours.length)];
}

function isSwitch(spelling: string): boolean {
  const name = flagSpelled(spelling);
  return name !== undefined && flagShape(name).type === 'switch';
}

/** What the command line asks for. */
export interface Invocation {
  readonly command: CommandName;
  /** The words after the command's name; for `exec` and `sweep`, those after `--`. */
  readonly positionals: readonly string[];
  readonly flags: Layer;
}

/** The commands by their names and aliases. */
const COMMAND_BY_SPELLING = new Map(
  COMMAND_NAMES.flatMap((name) =>
    [name, ...(commandShape(name).aliases ?? [])].map((spelling) => [spelling, name] as const),
  ),
);

/** Words that ask for the help, or for words to complete. */
const EXPLAINS = new RegExp(`^(?:-h|--help|help$|${COMPLETION_FLAG})`);

/** Whether words ask for the help, or for words to complete. */
export function asksForText(words: readonly string[]): boolean {
  return ownWords(words).some((word) => EXPLAINS.test(word));
}

/**
 * Reads the command line.
 *
 * @throws UsageError for an unknown command or flag, and for a flag without its value
 */
export function readCommandLine(words: readonly string[]): Invocation {
  const argv: Readonly<Record<string, unknown>> = parse(spelledOut(words), {
    configuration: PARSER,
  });
  const { _: plain, '--': toRun, ...given } = argv;
  const [first = 'serve', ...others] = textsOf(plain);
  const command = COMMAND_BY_SPELLING.get(first);
  if (command === undefined) throw unknownCommand(first);
  const { positional, runs } = commandShape(command);
  const taken = positional ? others.splice(0, positional.many ? others.length : 1) : [];
  requireExpected(command, others, textsOf(toRun));
  const flags: Layer = new Map(
    Object.entries(given).map(([spelling, value]) => {
      const name = flagSpelled(spelling, command);
      if (name === undefined) throw unknownFlag(command, spelling);
      return [name, flagInput(name, valuesOf(name, command, value), `--${spelling}`)];
    }),
  );
  return { command, positionals: runs ? textsOf(toRun) : taken, flags };
}

/** @param value what yargs read: true or an empty text if nothing follows the flag */
function valuesOf(name: FlagName, command: CommandName, value: unknown): string[] {
  const texts = textsOf(value);
  if (flagShape(name).type === 'switch') return texts.slice(-1);
  if ([value].flat().some((it) => it === true || it === '')) {
    throw new UsageError(`--${spellingOf(name)} needs a value (${flagOn(name, command).value})`);
  }
  return texts;
}

function textsOf(value: unknown): string[] {
  return value === undefined ? [] : [value].flat().map(String);
}

function requireExpected(
  command: CommandName,
  [surplus]: readonly string[],
  toRun: readonly string[],
): void {
  const { runs } = commandShape(command);
  const takes = runs
    ? `flags, then -- and a command: petstore-mock ${command} -- npm test`
    : 'flags';
  if (surplus !== undefined) {
    throw new UsageError(`${command} takes only ${takes}; found ${describe(surplus)}`);
  }
  if (!runs && toRun.length > 0) {
    const meant = `petstore-mock exec -- ${escaped(toRun.join(' '))}`;
    throw new UsageError(`${command} takes only flags, no command; did you mean ${meant}?`);
  }
}

function unknownCommand(word: string): UsageError {
  const hint = suggest(word, [...COMMAND_BY_SPELLING.keys()]);
  return new UsageError(
    `unknown command ${describe(word)}${hint}; petstore-mock --help lists them`,
  );
}

function unknownFlag(command: CommandName, name: string): UsageError {
  const flag = escaped(name.length === 1 ? `-${name}` : `--${name}`);
  const help = command === 'serve' ? 'petstore-mock --help' : `petstore-mock ${command} --help`;
  const other = flagSpelled(name);
  const problem =
    other === undefined
      ? `${command} has no flag ${flag}${hint(command, name)}`
      : `${flag} is a flag of ${flagShape(other).commands[0]}, not of ${command}`;
  return new UsageError(`${problem}; ${help} lists its flags`);
}

function hint(command: CommandName, spelling: string): string {
  const known = flagsOf(command).map(spellingOf);
  const initial = known.find((it) => spelling.length === 1 && it.startsWith(spelling));
  const switches = known.filter((it) => isSwitch(it) && !it.startsWith('no-'));
  const spellings = [...known, ...switches.map((it) => `no-${it}`)];
  return suggest(initial ?? spelling, spellings).replace('mean ', 'mean --');
}
