import yargs, { type Argv, type Options } from 'yargs';
import { describe, suggest } from '../../words.ts';
import { COMMAND_NAMES, type CommandName, commandShape } from '../command-table.ts';
import { UsageError } from '../failures.ts';
import { type FlagName, flagOn, flagShape, flagsOf, groupOf, isFlagName } from '../flags.ts';
import { escaped } from '../output/escaped.ts';
import { ASKED_BY, completionsOf } from './completed-words.ts';
import { variableOf } from './environment.ts';
import { givenAs, type Layer } from './given.ts';

/** What the command line asks for. */
export interface Invocation {
  readonly command: CommandName;
  /** What follows the command's name; of one that runs another, what follows `--`. */
  readonly positionals: readonly string[];
  readonly flags: Layer;
}

/** What asks for text instead of a command. Nothing else needs every command and its flags. */
const EXPLAINS = new RegExp(`^(?:-h|--help|${ASKED_BY})`);

/** Values stay text: they are read like those of the environment and of config files. */
const PARSER = {
  'boolean-negation': false,
  'camel-case-expansion': false,
  'dot-notation': false,
  'parse-numbers': false,
  'parse-positional-numbers': false,
  'populate--': true,
  'short-option-groups': false,
  'strip-aliased': true,
} as const;

/**
 * Reads the command line.
 *
 * @param width of the help, in columns
 * @returns what is asked for, or the text that answers it: the help, or words for the shell to complete
 * @throws UsageError for an unknown command or flag, and for a flag without its value
 */
export async function readCommandLine(
  words: readonly string[],
  width: number,
): Promise<Invocation | string> {
  const completions = words.includes(ASKED_BY) ? await completionsOf(words) : undefined;
  if (completions !== undefined) return `${completions.join('\n')}\n`;
  let command: CommandName = 'serve';
  const explains = words.some((word) => EXPLAINS.test(word));
  const parser = yargs()
    .scriptName('petstore-mock')
    .locale('en')
    .parserConfiguration(PARSER)
    .usage(`$0 [COMMAND] [FLAGS]\n\n${ABOUT}`)
    .wrap(width)
    .fail(false)
    .version(false)
    .help('help', flagShape('help').description);
  for (const name of COMMAND_NAMES.filter((it) => explains || canBe(it, words))) {
    parser.command(spellingsOf(name), commandShape(name).summary, (inner) => {
      command = name;
      return explains ? explained(inner, name) : configured(inner, name);
    });
  }
  let text = '';
  const argv = await parser.parse(withValues(words), {}, (_error, _argv, output) => {
    text ||= output;
  });
  return text === '' ? invocationOf(command, argv) : `${text}\n`;
}

function canBe(name: CommandName, words: readonly string[]): boolean {
  const { aliases = [] } = commandShape(name);
  return name === 'serve' || [name, ...aliases].some((it) => words.includes(it));
}

function spellingsOf(name: CommandName): string[] {
  const { aliases = [], positional } = commandShape(name);
  const word =
    positional && (positional.many ? ` [${positional.name}..]` : ` [${positional.name}]`);
  return [`${name}${word ?? ''}`, ...aliases, ...(name === 'serve' ? ['$0'] : [])];
}

const ABOUT = 'A local stand-in for the pet store service, for people who write its clients.';

const CONFIGURED_ELSEWHERE = `Each flag can also be an environment variable (--read-only-key is ${variableOf('read-only-key')}; commas separate repeated values, 1 and 0 turn a switch on and off) or a member of the JSON object in the --config file. A flag wins over a variable, and a variable over the file.`;

/** Tells yargs what it cannot see in the words. */
function configured(parser: Argv, command: CommandName): Argv {
  const { positional } = commandShape(command);
  if (positional !== undefined) {
    const { name, description } = positional;
    parser.positional(name, { type: 'string', describe: description });
  }
  for (const flag of flagsOf(command)) {
    const { alias } = flagShape(flag);
    if (alias !== undefined) parser.alias(flag, alias);
  }
  return parser;
}

/** Adds what the help and the completion of a command show. */
function explained(parser: Argv, command: CommandName): Argv {
  const { runs, summary, examples } = commandShape(command);
  configured(parser, command);
  if (runs) parser.usage(`$0 ${command} [FLAGS] -- CMD…\n\n${summary}`);
  for (const flag of flagsOf(command)) parser.option(flag, optionOf(flag, command));
  for (const [line, effect] of examples) parser.example(`# ${effect}\n$0 ${line}`, '');
  return command === 'serve' ? parser.epilogue(CONFIGURED_ELSEWHERE) : parser;
}

function optionOf(name: FlagName, command: CommandName): Options {
  const { description, default: fallback } = flagOn(name, command);
  const shown = fallback === undefined ? {} : { defaultDescription: String(fallback) };
  return { description, group: `${groupOf(name)}:`, ...shown };
}

/** Gives every switch its value: `--plain` becomes `--plain=true`, `--no-plain` `--plain=false`. */
function withValues(words: readonly string[]): string[] {
  const end = words.includes('--') ? words.indexOf('--') : words.length;
  const ours = words.slice(0, end).map((word) => {
    const [, no = '', name = ''] = /^--(no-)?(.*)$/s.exec(word) ?? [];
    if (isSwitch(no + name)) return `${word}=true`;
    return isSwitch(name) ? `--${name}=false` : word;
  });
  return [...ours, ...words.slice(end)];
}

function isSwitch(name: string): boolean {
  return isFlagName(name) && flagShape(name).type === 'switch';
}

type Arguments = Readonly<Record<string, unknown>>;

function invocationOf(command: CommandName, argv: Arguments): Invocation {
  const { _: rest, '--': toRun, $0: _program, ...given } = argv;
  const { positional, runs } = commandShape(command);
  const positionals = runs ? textsOf(toRun) : textsOf(positional && given[positional.name]);
  requireExpected(command, textsOf(rest), runs ? [] : textsOf(toRun));
  const flags: Layer = new Map(
    Object.entries(given).flatMap(([name, value]) => {
      if (name === positional?.name) return [];
      if (!isFlagName(name) || !flagsOf(command).includes(name)) throw unknownFlag(command, name);
      // What yargs reads from a flag with nothing behind it: true, or an empty text after `=`.
      if (!isSwitch(name) && [value].flat().some((it) => it === true || it === '')) {
        throw new UsageError(`--${name} needs a value (${flagOn(name, command).value})`);
      }
      const texts = isSwitch(name) ? textsOf(value).slice(-1) : textsOf(value);
      return [[name, givenAs(name, texts, `--${name}`)]];
    }),
  );
  return { command, positionals, flags };
}

function textsOf(value: unknown): string[] {
  return value === undefined ? [] : [value].flat().map(String);
}

/**
 * @param words those that are not flags, the command's name first if it was written
 * @param toRun those that follow `--`, of a command that runs no other
 */
function requireExpected(
  command: CommandName,
  words: readonly string[],
  toRun: readonly string[],
): void {
  const { runs, aliases = [] } = commandShape(command);
  const named = [command, ...aliases].includes(words[0] ?? '');
  const surplus = words[named ? 1 : 0];
  if (surplus !== undefined && !named) {
    const commands = COMMAND_NAMES.flatMap((name) => [name, ...(commandShape(name).aliases ?? [])]);
    throw new UsageError(
      `unknown command ${describe(surplus)}${suggest(surplus, commands)}; petstore-mock --help lists them`,
    );
  }
  const takes = runs
    ? `flags, then -- and a command: petstore-mock ${command} -- npm test`
    : 'flags';
  if (surplus !== undefined) {
    throw new UsageError(`${command} takes only ${takes}; found ${describe(surplus)}`);
  }
  if (toRun.length > 0) {
    const meant = `petstore-mock exec -- ${escaped(toRun.join(' '))}`;
    throw new UsageError(`${command} takes only flags, no command; did you mean ${meant}?`);
  }
}

function unknownFlag(command: CommandName, name: string): UsageError {
  const flag = escaped(name.length === 1 ? `-${name}` : `--${name}`);
  const help = command === 'serve' ? 'petstore-mock --help' : `petstore-mock ${command} --help`;
  return new UsageError(
    `${command} has no flag ${flag}${hint(command, name)}; ${help} lists its flags`,
  );
}

function hint(command: CommandName, name: string): string {
  const [owner] = isFlagName(name) ? flagShape(name).commands : [];
  if (owner !== undefined) return ` (${owner} has)`;
  const known = flagsOf(command);
  const initial = known.find((it) => name.length === 1 && it.startsWith(name));
  const switches = known.filter((it) => isSwitch(it) && !it.startsWith('no-'));
  const spellings = [...known, ...switches.map((it) => `no-${it}`)];
  return suggest(initial ?? name, spellings).replace('mean ', 'mean --');
}
