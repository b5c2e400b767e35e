import parse from 'yargs-parser';
import { describe, suggest } from '../../words.ts';
import { COMMAND_NAMES, type CommandName, commandShape } from '../command-table.ts';
import { UsageError } from '../failures.ts';
import { type FlagName, flagOn, flagShape, flagSpelled, flagsOf, spellingOf } from '../flags.ts';
import { escaped } from '../output/escaped.ts';
import { givenAs, type Layer } from './given.ts';
import { ASKED_BY, isSwitch, ownWords, PARSER, spelledOut } from './spelling.ts';

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
const EXPLAINS = new RegExp(`^(?:-h|--help|help$|${ASKED_BY})`);

/**
 * Reads the command line.
 *
 * @param width of the help, in columns
 * @returns the invocation; or the text to print: the help, or completions for the shell
 * @throws UsageError for an unknown command or flag, and for a flag without its value
 */
export async function readCommandLine(
  words: readonly string[],
  width: number,
): Promise<Invocation | string> {
  if (ownWords(words).some((word) => EXPLAINS.test(word))) {
    // yargs takes 60 ms to load, as much as Node itself; its parser alone takes a few.
    const { explanation } = await import('./explanation.ts');
    const text = await explanation(words, width);
    if (text !== '') return text;
  }
  return invocationOf(words);
}

function invocationOf(words: readonly string[]): Invocation {
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
      return [name, givenAs(name, valuesOf(name, command, value), `--${spelling}`)];
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
  return new UsageError(
    `${command} has no flag ${flag}${hint(command, name)}; ${help} lists its flags`,
  );
}

function hint(command: CommandName, spelling: string): string {
  const foreign = flagSpelled(spelling);
  if (foreign !== undefined) return `, which is a flag of ${flagShape(foreign).commands[0]}`;
  const known = flagsOf(command).map(spellingOf);
  const initial = known.find((it) => spelling.length === 1 && it.startsWith(spelling));
  const switches = known.filter((it) => isSwitch(it) && !it.startsWith('no-'));
  const spellings = [...known, ...switches.map((it) => `no-${it}`)];
  return suggest(initial ?? spelling, spellings).replace('mean ', 'mean --');
}
