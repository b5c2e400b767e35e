import { parseArgs } from 'node:util';
import { describe, suggest } from '../words.ts';
import { requireWords, UsageError } from './command.ts';
import { COMMAND_NAMES, type CommandName, commandShape } from './command-table.ts';
import {
  FLAG_NAMES,
  type FlagName,
  flagShape,
  flagSpelled,
  flagsOf,
  isSwitch,
  spellingOf,
  switchedOff,
} from './flags.ts';
import { type Invocation, jsonOf } from './read-flags.ts';
import { escapeControls } from './terminal.ts';

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

/**
 * Reads the command line. If it asks for help or the version, the rest is ignored.
 *
 * @throws UsageError for an unknown command or flag, a flag without its value, and too few or too many
 * words
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
  const flagTokens = tokens.filter((token) => token.kind === 'option');
  const asksFor = (name: 'help' | 'version') => flagTokens.some((token) => token.name === name);
  if (asksFor('help') || plain.slice(0, 2).includes('help')) {
    const [command = 'serve'] = plain.flatMap((word) => COMMAND_BY_SPELLING.get(word) ?? []);
    return { command, shows: 'help', positionals: [], flags: new Map() };
  }
  const [first = 'serve', ...others] = plain;
  const command = COMMAND_BY_SPELLING.get(first);
  if (command === undefined) {
    // The word may be the value of a misspelt flag.
    const misspelt = flagTokens.find(({ name }) => !(flagSpelled(name) ?? switchedOff(name)));
    throw misspelt ? unknownFlag('serve', misspelt.name) : unknownCommand(first);
  }
  if (asksFor('version')) return { command, shows: 'version', positionals: [], flags: new Map() };
  const { takes, runs } = commandShape(command);
  // Flags after a command that should follow -- are flags of that command.
  const [, stray] = tokens.filter(({ kind }) => runs && kind === 'positional');
  const texts = new Map<FlagName, string[]>();
  for (const token of flagTokens.filter(({ index }) => index < (stray?.index ?? words.length))) {
    const [name, text] = flagOf(command, token);
    texts.set(name, [...(texts.get(name) ?? []), text]);
  }
  const flags = [...texts].map(([name, all]) => {
    return [name, { value: jsonOf(name, all), origin: `--${spellingOf(name)}` }] as const;
  });
  if (!runs) {
    requireWords(command, takes, others);
    if (toRun.length > 0) throw runsNothing(command, toRun);
  } else if (stray !== undefined || !toRun[0]) {
    const needs = `${command} needs -- and a command, as in petstore-mock ${command} -- npm test`;
    throw new UsageError(stray === undefined ? needs : `${needs}; found ${describe(others[0])}`);
  }
  return { command, positionals: runs ? toRun : others, flags: new Map(flags) };
}

/** A flag as Node found it. */
interface Token {
  readonly name: string;
  readonly value?: string | undefined;
  /** Whether the value stands in the same word. */
  readonly inlineValue?: boolean | undefined;
}

/** A flag with its value as text. */
function flagOf(
  command: CommandName,
  { name: spelling, value, inlineValue }: Token,
): [FlagName, string] {
  const off = switchedOff(spelling);
  const name = flagSpelled(spelling) ?? off;
  if (name === undefined || !flagsOf(command).includes(name)) throw unknownFlag(command, spelling);
  if (isSwitch(name)) return [name, name === off ? 'false' : (value ?? 'true')];
  const isFlag = !inlineValue && /^-\D/.test(value ?? '');
  if (value && !isFlag) return [name, value];
  throw new UsageError(`--${spelling} needs a value (${flagShape(name).placeholder})`);
}

function runsNothing(command: CommandName, toRun: readonly string[]): UsageError {
  const meant = `petstore-mock exec -- ${escapeControls(toRun.join(' '))}`;
  return new UsageError(`${command} takes only flags, no command; did you mean ${meant}?`);
}

function unknownCommand(word: string): UsageError {
  const hint = suggest(word, [...COMMAND_BY_SPELLING.keys()]);
  return new UsageError(
    `unknown command ${describe(word)}${hint}; petstore-mock --help lists them`,
  );
}

function unknownFlag(command: CommandName, name: string): UsageError {
  const flag = escapeControls(name.length === 1 ? `-${name}` : `--${name}`);
  const help = command === 'serve' ? 'petstore-mock --help' : `petstore-mock ${command} --help`;
  const other = flagSpelled(name);
  const known = flagsOf(command).map((it) => `--${spellingOf(it)}`);
  const problem =
    other === undefined
      ? `${command} has no flag ${flag}${suggest(flag, known)}`
      : `${flag} is a flag of ${flagShape(other).commands[0]}, not of ${command}`;
  return new UsageError(`${problem}; ${help} lists its flags`);
}
