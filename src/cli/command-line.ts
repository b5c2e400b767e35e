import { parseArgs } from 'node:util';
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
import { flagInput, type Invocation, type Layer } from './settings.ts';
import { escaped } from './terminal.ts';

/** The flags as Node reads them. */
const OPTIONS = Object.fromEntries(
  FLAG_NAMES.map((name) => {
    const { alias: short } = flagShape(name);
    const type: 'boolean' | 'string' = isSwitch(name) ? 'boolean' : 'string';
    return [spellingOf(name), { type, ...(short !== undefined && { short }) }];
  }),
);

/** The commands by their names and aliases. */
const COMMAND_BY_SPELLING = new Map(
  COMMAND_NAMES.flatMap((name) =>
    [name, ...(commandShape(name).aliases ?? [])].map((spelling) => [spelling, name] as const),
  ),
);

const HELP: Layer = new Map([['help', { value: true, origin: '--help' }]]);

/**
 * Reads the command line. If it asks for the help of a command, whatever else it says is ignored.
 *
 * @throws UsageError for an unknown command or flag, and for a flag without its value
 */
export function readCommandLine(words: readonly string[]): Invocation {
  const end = words.includes('--') ? words.indexOf('--') : words.length;
  const toRun = words.slice(end + 1);
  const { tokens, positionals: plain } = parseArgs({
    // -port is --port: no letters are combined.
    args: words.slice(0, end).map((word) => word.replace(/^-(?=[a-z]{2})/i, '--')),
    options: OPTIONS,
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  const given = tokens.filter((token) => token.kind === 'option');
  if (given.some(({ name }) => name === 'help') || plain.slice(0, 2).includes('help')) {
    const [command = 'serve'] = plain.flatMap((word) => COMMAND_BY_SPELLING.get(word) ?? []);
    return { command, positionals: [], flags: HELP };
  }
  const [first = 'serve', ...others] = plain;
  const command = COMMAND_BY_SPELLING.get(first);
  if (command === undefined) {
    // The word may be the value of a misspelt flag.
    const isKnown = (name: string) => flagSpelled(name) ?? flagSpelled(name.replace(/^no-/, ''));
    const misspelt = given.find(({ name }) => isKnown(name) === undefined);
    throw misspelt ? unknownFlag('serve', misspelt.name) : unknownCommand(first);
  }
  const { positional, runs } = commandShape(command);
  // Flags after a command that should follow -- are flags of that command.
  const [, stray] = tokens.filter(({ kind }) => runs && kind === 'positional');
  const texts = new Map<FlagName, string[]>();
  for (const token of given.filter(({ index }) => index < (stray?.index ?? words.length))) {
    const [name, text] = flagOf(command, token);
    texts.set(name, isSwitch(name) ? [text] : [...(texts.get(name) ?? []), text]);
  }
  const flags: Layer = new Map(
    [...texts].map(([name, all]) => [name, flagInput(name, all, `--${spellingOf(name)}`)]),
  );
  const taken = positional ? others.splice(0, positional.many ? others.length : 1) : [];
  if (!flags.has('version')) requireExpected(command, others, toRun);
  return { command, positionals: runs ? toRun : taken, flags };
}

/** A flag as Node found it. */
interface Token {
  readonly name: string;
  readonly value?: string | undefined;
  /** Whether the value stands in the same word. */
  readonly inlineValue?: boolean | undefined;
}

/** A flag with its value as text: `--no-plain` is false for `--plain`. */
function flagOf(
  command: CommandName,
  { name: spelling, value, inlineValue }: Token,
): [FlagName, string] {
  const name = flagSpelled(spelling, command);
  const negated = /^no-/.test(spelling) ? flagSpelled(spelling.slice(3), command) : undefined;
  if (name === undefined && negated !== undefined && isSwitch(negated)) return [negated, 'false'];
  if (name === undefined) throw unknownFlag(command, spelling);
  if (isSwitch(name)) return [name, value ?? 'true'];
  const isFlag = !inlineValue && /^-\D/.test(value ?? '');
  if (value && !isFlag) return [name, value];
  throw new UsageError(`--${spelling} needs a value (${flagOn(name, command).value})`);
}

function isSwitch(name: FlagName): boolean {
  return flagShape(name).type === 'switch';
}

function requireExpected(
  command: CommandName,
  [surplus]: readonly string[],
  toRun: readonly string[],
): void {
  const { runs } = commandShape(command);
  const example = `petstore-mock ${command} -- npm test`;
  if (surplus !== undefined) {
    const takes = runs ? `flags, then -- and a command: ${example}` : 'flags';
    throw new UsageError(`${command} takes only ${takes}; found ${describe(surplus)}`);
  }
  if (runs && !toRun[0]) {
    throw new UsageError(`${command} needs -- and a command, as in ${example}`);
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
  const known = flagsOf(command).map(spellingOf);
  const initial = known.find((it) => name.length === 1 && it.startsWith(name));
  const hint = suggest(
    `--${initial ?? name}`,
    known.map((it) => `--${it}`),
  );
  const problem =
    other === undefined
      ? `${command} has no flag ${flag}${hint}`
      : `${flag} is a flag of ${flagShape(other).commands[0]}, not of ${command}`;
  return new UsageError(`${problem}; ${help} lists its flags`);
}
