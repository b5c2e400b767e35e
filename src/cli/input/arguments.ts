import { type ParseArgsConfig, parseArgs } from 'node:util';
import { describe, suggest } from '../../words.ts';
import {
  COMMAND_NAMES,
  COMPLETION,
  type CommandName,
  commandShape,
  isCommandName,
  isRunner,
} from '../command-table.ts';
import { UsageError } from '../failures.ts';
import { FLAG_NAMES, type FlagName, flagShape, flagsOf, isFlagName } from '../flags.ts';
import { escaped } from '../output/escaped.ts';
import { ASKED_BY } from './completion.ts';
import { type Given, type Layer, refusal } from './given.ts';

/** What the command line asks for. */
export interface Invocation {
  readonly command: CommandName;
  /** What follows the command's name, or after `--` is to be run. */
  readonly positionals: readonly string[];
  readonly flags: Layer;
}

/** One flag as it was written. */
interface WrittenFlag {
  readonly name: string;
  /** With its dashes, and without its value. */
  readonly spelling: string;
  /** Undefined where none was written, or what follows is a flag again. */
  readonly value: string | undefined;
}

/**
 * Reads the command line. Asked for the completion script, or for what completes a word, it prints
 * that and ends the process.
 *
 * @throws UsageError where a command or flag does not exist, or a flag lacks its value
 */
export async function parseArguments(all: readonly string[]): Promise<Invocation> {
  const { words, toRun } = apart(all);
  const { positionals, written } = split(words);
  const [first = ''] = positionals;
  if (first === COMPLETION.name || words.includes(ASKED_BY)) {
    // Loaded late: few ask for it, and it costs a start more than all else here.
    const { complete } = await import('./completion-script.ts');
    await complete(words);
  }
  const named = isCommandName(first);
  const command = named ? first : 'serve';
  const following = named ? positionals.slice(1) : positionals;
  // A word behind an unknown flag was most likely meant for it.
  if (words[0] === first) requireExpected(command, named, following);
  const flags = flagsIn(command, written);
  requireExpected(command, named, following);
  return { command, positionals: commandShape(command).runs ? toRun : following, flags };
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

/** A flag means one thing on whatever command, so that the words can be split before it is known. */
const OPTIONS: NonNullable<ParseArgsConfig['options']> = Object.fromEntries(
  FLAG_NAMES.map((name) => {
    const { type, alias } = flagShape(name);
    const short = alias === undefined ? {} : { short: alias };
    return [name, { type: type === 'switch' ? 'boolean' : 'string', ...short }];
  }),
);

function split(words: readonly string[]): { positionals: string[]; written: WrittenFlag[] } {
  const { tokens } = parseArgs({
    args: [...words],
    options: OPTIONS,
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  const positionals: string[] = [];
  const written: WrittenFlag[] = [];
  for (const token of tokens) {
    if (token.kind === 'positional') positionals.push(token.value);
    if (token.kind !== 'option') continue;
    const { name, index, value, inlineValue } = token;
    const spelling = (words[index] ?? '').replace(/=.*$/s, '');
    const isNext = inlineValue === false && value?.startsWith('--') === true;
    written.push({ name, spelling, value: isNext ? undefined : value });
  }
  return { positionals, written };
}

const EXAMPLE = 'petstore-mock exec -- npm test';

function requireExpected(command: CommandName, named: boolean, words: readonly string[]): void {
  const { positional } = commandShape(command);
  const most = positional === undefined ? 0 : positional.many ? Number.POSITIVE_INFINITY : 1;
  const surplus = words[most];
  if (surplus === undefined) return;
  if (named && isRunner(command)) {
    throw refusal(command, `flags, then -- and a command, as in ${EXAMPLE}`, describe(surplus));
  }
  if (named) throw refusal(command, 'only flags', describe(surplus));
  const commands = [...COMMAND_NAMES, COMPLETION.name, '--help'];
  throw new UsageError(
    `${describe(surplus)} is no command${suggest(surplus, commands)}; petstore-mock --help lists them`,
  );
}

function flagsIn(command: CommandName, written: readonly WrittenFlag[]): Layer {
  const flags = new Map<FlagName, Given>();
  for (const flag of written) {
    const { name, texts } = meantBy(command, flag);
    const before = flagShape(name).type === 'switch' ? [] : (flags.get(name)?.texts ?? []);
    flags.set(name, { texts: [...before, ...texts], origin: `--${name}` });
  }
  return flags;
}

/** The flag that was meant, and what was said of it; a switch is on, unless it says otherwise. */
function meantBy(
  command: CommandName,
  { name, spelling, value }: WrittenFlag,
): { name: FlagName; texts: readonly string[] } {
  const known = flagsOf(command);
  const negated = name.slice('no-'.length);
  if (isFlagName(name) && known.includes(name) && isWhole(name, spelling)) {
    const { type, value: shown } = flagShape(name);
    if (type === 'switch') return { name, texts: [value ?? 'true'] };
    if (value === undefined || value === '') {
      throw refusal(`--${name}`, `a value (${shown})`, 'none');
    }
    return { name, texts: [value] };
  }
  if (name.startsWith('no-') && isFlagName(negated) && known.includes(negated)) {
    if (flagShape(negated).type === 'switch') return { name: negated, texts: ['false'] };
  }
  throw unknownFlag(command, spelling);
}

/** `-port` stands for no four flags of one letter each: it is most likely a slip for `--port`. */
function isWhole(name: FlagName, spelling: string): boolean {
  return spelling === `--${name}` || spelling === `-${flagShape(name).alias}`;
}

function unknownFlag(command: CommandName, flag: string): UsageError {
  const help = command === 'serve' ? 'petstore-mock --help' : `petstore-mock ${command} --help`;
  return new UsageError(
    `${escaped(flag)} is no flag of ${command}${hint(command, flag)}; ${help} lists them`,
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
