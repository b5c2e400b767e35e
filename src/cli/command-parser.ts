import { join } from 'node:path';
import yargs, { type Argv } from 'yargs';
import { ASSUMPTION_IDS, optionNames } from '../core/contract/assumption-table.ts';
import { OPERATION_IDS } from '../core/contract/operations.ts';
import { shellWord } from '../core/raw-http.ts';
import { SCENARIO_NAMES } from '../core/scenario/scenario-names.ts';
import { describe, suggest } from '../core/words.ts';
import { packageRoot, packageVersion } from '../server/files.ts';
import { UsageError } from '../terminal/command.ts';
import { escapeControls } from '../terminal/terminal.ts';
import { COMMAND_NAMES, type CommandName, commandShape, requireWords } from './command-table.ts';
import { type Layer, toJson } from './flag-sources.ts';
import {
  ALIASES,
  FLAG_GROUPS,
  FLAG_NAMES,
  type FlagName,
  findFlag,
  flagShape,
  listFlags,
  spell,
  variableFor,
} from './flags.ts';

export interface Invocation {
  readonly command: CommandName;
  /** The words after the command's name; for `exec` and `sweep`, those after `--`. */
  readonly positionals: readonly string[];
  readonly flags: Layer;
}

const ABOUT = 'A local mock server for the pet store service, for developers of its clients.';

const CONFIGURED_ELSEWHERE = `Each flag can also be an environment variable (--read-only-key is ${variableFor('readOnlyKey')}; commas separate repeated values, true and false turn a switch on and off) or a member of the JSON object in the --config file. A flag wins over a variable, and a variable over the file.`;

const GUIDE = `For scripts and agents: ${join(packageRoot, 'SKILL.md')}`;

const OPTIONS = ASSUMPTION_IDS.flatMap((id) => optionNames(id).map((name) => `${id}=${name}`));

const COMPLETIONS: Readonly<Record<string, readonly string[]>> = {
  assume: OPTIONS,
  allow: OPTIONS,
  scenario: SCENARIO_NAMES,
  scenarios: SCENARIO_NAMES,
  assumptions: ASSUMPTION_IDS,
  responses: OPERATION_IDS,
};

const COMMAND_BY_SPELLING = new Map(
  COMMAND_NAMES.flatMap((name) =>
    [name, ...(commandShape(name).aliases ?? [])].map((spelling) => [spelling, name] as const),
  ),
);

const PARSER_CONFIGURATION = {
  'boolean-negation': false, // --no-control is a flag of its own
  'camel-case-expansion': false,
  'dot-notation': false,
  'parse-numbers': false,
  'parse-positional-numbers': false,
  'populate--': true,
  'short-option-groups': false, // -port is --port
  'strip-aliased': true,
};

export async function parseCommandLine(
  words: readonly string[],
  width: number,
): Promise<Invocation | string> {
  const completes = words[0] === '--get-yargs-completions';
  const actions = words.includes('ctl') ? await import('./commands/ctl-actions.ts') : undefined;
  const asked = completes ? joinAssignment(words) : prepare(words);
  const runs = !completes && !asked.includes('--help');
  let result: Invocation | string = '';
  // The working directory may be gone.
  const parser = yargs([], packageRoot)
    .scriptName('petstore-mock')
    .locale('en')
    .usage(`$0 [COMMAND] [FLAGS]\n\n${ABOUT}`)
    .wrap(Number.isFinite(width) ? width : null)
    .parserConfiguration(PARSER_CONFIGURATION)
    .boolean(['help', 'version'])
    .help('help', flagShape('help').description)
    .version(false)
    .fail((message, error) => {
      throw message ? new UsageError(message, { cause: error }) : error;
    });
  for (const command of COMMAND_NAMES) {
    const { aliases = [], summary } = commandShape(command);
    const [word, more] = findPositional(command);
    // yargs drops some words that a command takes, such as a dash: only the help names them.
    const spelling = word === '' || runs ? command : `${command} [${word}${more}]`;
    parser.command(
      [spelling, ...aliases, ...(command === 'serve' ? ['$0'] : [])],
      summary,
      (inner) => {
        describeCommand(inner, command, actions?.actionLines());
        declareFlags(inner, command, completes);
        const choices = command === 'ctl' ? actions?.ACTION_NAMES : COMPLETIONS[command];
        return completes && word !== '' ? inner.positional(word, { choices }) : inner;
      },
      (argv) => {
        result = argv.version ? `${packageVersion()}\n` : readInvocation(command, argv);
      },
    );
  }
  await parser.parse(asked, {}, (_error, _argv, output) => {
    if (output !== '') result = `${output}\n`;
  });
  // Bash completes only what stands behind the sign at which it splits.
  return completes && words.includes('=') ? String(result).replaceAll(/^.*=/gm, '') : result;
}

function findPositional(command: CommandName): [word: string, more: '' | '..'] {
  const { takes, runs } = commandShape(command);
  const [, word = '', more = ''] = (!runs && /(\w+)(…?)/.exec(takes[0])) || [];
  return [word, more && '..'];
}

/** What the help of a command shows besides its flags. That of `serve` is the help of the program. */
function describeCommand(parser: Argv, command: CommandName, actions: string | undefined): void {
  const { takes, summary, about, examples } = commandShape(command);
  const more = [about, command === 'ctl' ? actions : undefined].flatMap((text) => text ?? []);
  if (command === 'serve') parser.epilogue(`${CONFIGURED_ELSEWHERE}\n\n${GUIDE}`);
  else parser.usage([`$0 ${command} [FLAGS] ${takes[0]}`, summary, ...more].join('\n\n'));
  for (const [line, effect] of examples) parser.example(`# ${effect}\n$0 ${line}`, '');
}

function declareFlags(parser: Argv, command: CommandName, completes: boolean): void {
  const own = listFlags(command);
  for (const [group, flags] of Object.entries(FLAG_GROUPS)) {
    for (const name of own.filter((flag) => Object.hasOwn(flags, flag))) {
      const { description } = flagShape(name);
      const option = { description, group: `${group}:`, alias: ALIASES[name] };
      const isBoolean = name === 'help' || name === 'version';
      const coerce = (given: unknown) => toJson(name, readTexts(name, given));
      const values = completes ? { choices: COMPLETIONS[spell(name)] } : { coerce };
      parser.option(spell(name), isBoolean ? option : { ...option, ...values });
    }
  }
}

/** yargs gives a flag without a value as true, and a repeated one as an array. */
function readTexts(name: FlagName, given: unknown): string[] {
  return [given].flat().map((text) => {
    if (typeof text === 'string' && text !== '') return text;
    const { placeholder = 'true or false', bare } = flagShape(name);
    if (text === true && bare !== undefined) return bare;
    throw new UsageError(`--${spell(name)} needs a value (${placeholder})`);
  });
}

/** A switch would take the next word as its value. Whoever asks for the help gets it, whatever is wrong. */
function prepare(words: readonly string[]): string[] {
  const end = words.includes('--') ? words.indexOf('--') : words.length;
  const typed = joinDashedValues(words.slice(0, end));
  const own = typed.map((word) => {
    const [, spelling = '', value = 'true'] = /^--?([\w-]+)(?:=(.*))?$/s.exec(word) ?? [];
    // yargs finds these in its own tables.
    if (spelling in Object.prototype) throw unknownFlag('serve', spelling);
    if (SWITCHES.has(spelling)) return `--${spelling}=${value}`;
    const off = spelling.replace(/^no-/, '');
    return off !== spelling && SWITCHES.has(off) ? `--${off}=false` : word;
  });
  requireSeparator(own, [...typed, ...words.slice(end)]);
  const asksFor = (name: string) => own.includes(`--${name}=true`) || own.includes(`-${name[0]}`);
  const asksForHelp = asksFor('help') || own.slice(0, 2).includes('help');
  if (!asksForHelp) return asksFor('version') ? ['--version'] : [...own, ...words.slice(end)];
  const [command] = own.flatMap((word) => COMMAND_BY_SPELLING.get(word) ?? []);
  return command === undefined || command === 'serve' ? ['--help'] : [command, '--help'];
}

/** yargs takes a value that begins with a dash, such as a token, for a flag. */
function joinDashedValues(words: readonly string[]): string[] {
  const joined: string[] = [];
  for (const word of words) {
    const flag = joined.at(-1) ?? '';
    const isValue = takesValue(flag) && /^-[^-]/.test(word) && !SHORT_FLAGS.has(word);
    if (isValue) joined.splice(-1, 1, `${flag}=${word}`);
    else joined.push(word);
  }
  return joined;
}

const SHORT_FLAGS: ReadonlySet<string> = new Set(Object.values(ALIASES).map((it) => `-${it}`));

function takesValue(word: string): boolean {
  const [, spelling = ''] = /^--?([\w-]+)$/.exec(word) ?? [];
  return VALUED.has(spelling);
}

/** Without `--`, flags of the command to run would be taken for ours, as in `exec pytest -v`. */
function requireSeparator(own: readonly string[], typed: readonly string[]): void {
  const plain = own.flatMap((word, index) =>
    word.startsWith('-') || takesValue(own[index - 1] ?? '') ? [] : index,
  );
  const [first = 0, stray] = plain;
  const command = COMMAND_BY_SPELLING.get(own[first] ?? '');
  if (command === undefined || !commandShape(command).runs || stray === undefined) return;
  if (stray === first + 1 && own[stray] === 'help') return;
  const flags = own.slice(0, stray).flatMap((word) => /^--?([\w-]+)/.exec(word)?.[1] ?? []);
  const unknown = flags.find((flag) => findFlag(flag, command) === undefined);
  if (unknown !== undefined) throw unknownFlag(command, unknown);
  const meant = [...typed.slice(0, stray), '--', ...typed.slice(stray)].map(shellWord).join(' ');
  throw new UsageError(`${command} needs \`--\` before the command: petstore-mock ${meant}`);
}

const VALUED: ReadonlySet<string> = new Set(
  FLAG_NAMES.filter((name) => flagShape(name).type !== 'switch').map(spell),
);

const SWITCHES: ReadonlySet<string> = new Set(
  FLAG_NAMES.filter((name) => flagShape(name).type === 'switch').map(spell),
);

function readInvocation(command: CommandName, argv: Readonly<Record<string, unknown>>): Invocation {
  const { takes, runs } = commandShape(command);
  const listWords = (name: string) => [argv[name] ?? []].flat().map(String);
  const [named, toRun] = [listWords('_'), listWords('--')];
  const isNamed = COMMAND_BY_SPELLING.has(named[0] ?? '');
  const words = named.slice(isNamed ? 1 : 0);
  const [stray] = words;
  if (runs && !toRun[0]) {
    const example = `petstore-mock ${command} -- npm test`;
    throw new UsageError(`${command} needs \`--\` and a command, as in ${example}`);
  }
  const own = listFlags(command);
  const known = new Set([...own.map(spell), '_', '$0', '--']);
  const unknown = Object.keys(argv).filter((name) => !known.has(name));
  const isMisspelt = unknown.some((name) => findFlag(name, command) === undefined);
  if (!isNamed && stray !== undefined && !isMisspelt) throw unknownCommand(stray);
  if (unknown[0] !== undefined) throw unknownFlag(command, unknown[0]);
  if (!runs) {
    requireWords(command, takes, words);
    const meant = `petstore-mock exec -- ${escapeControls(toRun.join(' '))}`;
    const problem = `${command} takes only flags, no command; did you mean ${meant}?`;
    if (toRun.length > 0) throw new UsageError(problem);
  }
  const given = own.filter((name) => argv[spell(name)] !== undefined);
  const flags = given.map((name) => {
    return [name, { value: argv[spell(name)], origin: `--${spell(name)}` }] as const;
  });
  return { command, positionals: runs ? toRun : words, flags: new Map(flags) };
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
  const other = findFlag(name, command);
  const known = listFlags(command).map((own) => `--${spell(own)}`);
  const problem =
    other === undefined
      ? `${command} has no flag ${flag}${suggest(flag, known)}`
      : `${flag} is a flag of ${flagShape(other).commands[0]}, not of ${command}`;
  return new UsageError(`${problem}; ${help} lists its flags`);
}

function joinAssignment([asks = '', program = '', ...typed]: readonly string[]): string[] {
  // yargs completes flags only after the name of a command.
  const isOfServe = !COMMAND_NAMES.some((name) => typed.includes(name));
  const command = isOfServe && typed.some((word) => word.startsWith('-')) ? ['serve'] : [];
  // Bash splits `cancel-again=4` into three words.
  const whole = typed.join('\n').replace(/\n=(?:\n|$)/, '=');
  return [asks, program, ...command, ...whole.split('\n')];
}
