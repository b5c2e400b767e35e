import { shellWord } from '../core/curl.ts';
import { describe, suggest } from '../core/words.ts';
import { packageVersion } from '../server/files.ts';
import { UsageError } from '../terminal/command.ts';
import { escapeControls } from '../terminal/terminal.ts';
import { COMMAND_NAMES, type CommandName, commandShape, requireWords } from './command-table.ts';
import { type Layer, toJson } from './flag-sources.ts';
import {
  ALIASES,
  FLAG_NAMES,
  type FlagName,
  findFlag,
  flagShape,
  listFlags,
  spell,
} from './flags.ts';

export interface Invocation {
  readonly command: CommandName;
  /** The words after the command's name; for `exec` and `sweep`, those after `--`. */
  readonly positionals: readonly string[];
  readonly flags: Layer;
}

const COMMAND_BY_SPELLING = new Map(
  COMMAND_NAMES.flatMap((name) =>
    [name, ...(commandShape(name).aliases ?? [])].map((spelling) => [spelling, name] as const),
  ),
);

const SWITCHES: ReadonlySet<string> = new Set(
  FLAG_NAMES.filter((name) => flagShape(name).type === 'switch').map(spell),
);

const LONG_FORMS = new Map(
  FLAG_NAMES.flatMap((name) => (ALIASES[name] === undefined ? [] : [[ALIASES[name], spell(name)]])),
);

/** @returns what to run, or a text to print instead */
export async function parseCommandLine(
  words: readonly string[],
  width: number,
): Promise<Invocation | string> {
  if (words[0] === '--get-yargs-completions') {
    const { listCompletions } = await import('./command-help.ts');
    return listCompletions(words);
  }
  const line = splitLine(words);
  requireSeparator(line, words);
  const { own, flags } = line;
  // Whoever asks for the help gets it, whatever else is wrong.
  if (flags.get('help')?.includes('true') || own.slice(0, 2).includes('help')) {
    const [command = 'serve'] = own.flatMap((word) => COMMAND_BY_SPELLING.get(word) ?? []);
    const { renderHelp } = await import('./command-help.ts');
    return renderHelp(command, width);
  }
  if (flags.get('version')?.includes('true')) return `${packageVersion()}\n`;
  return readInvocation(line);
}

/** A command line, before anything of it is checked. */
interface Line {
  /** The words before `--`. */
  readonly own: readonly string[];
  /** The texts of each flag among them, by its spelling; undefined for a missing value. */
  readonly flags: ReadonlyMap<string, readonly (string | undefined)[]>;
  /** The places of the others: the name of the command, and the words that it takes. */
  readonly plain: readonly number[];
  /** The words after `--`, which are of the command to run. */
  readonly toRun: readonly string[];
}

/** A word that begins with a dash and is no negative number. `-port` is `--port`. */
const FLAG = /^--?(?!\d+(?:\.\d+)?$)([^=]+)(?:=(.*))?$/s;

function splitLine(words: readonly string[]): Line {
  const end = words.includes('--') ? words.indexOf('--') : words.length;
  const own = words.slice(0, end);
  const flags = new Map<string, (string | undefined)[]>();
  const plain: number[] = [];
  for (let at = 0; at < end; at += 1) {
    const [, typed, given] = FLAG.exec(own[at] ?? '') ?? [];
    if (typed === undefined) {
      plain.push(at);
      continue;
    }
    let [spelling, text] = [LONG_FORMS.get(typed) ?? typed, given];
    const off = spelling.replace(/^no-/, '');
    if (SWITCHES.has(spelling)) text ??= 'true';
    else if (off !== spelling && SWITCHES.has(off)) [spelling, text] = [off, 'false'];
    else if (text === undefined && isValue(own[at + 1])) {
      at += 1;
      text = own[at];
    }
    flags.set(spelling, [...(flags.get(spelling) ?? []), text]);
  }
  return { own, flags, plain, toRun: words.slice(end + 1) };
}

/** Whether a word after a flag is its value, which can begin with a dash, as a token does. */
function isValue(word: string | undefined): boolean {
  return word !== undefined && !/^-(?:-|$)/.test(word) && !LONG_FORMS.has(word.replace('-', ''));
}

/** Without `--`, flags of the command to run would be taken for ours, as in `exec pytest -v`. */
function requireSeparator({ own, plain }: Line, words: readonly string[]): void {
  const [first = 0, stray] = plain;
  const command = COMMAND_BY_SPELLING.get(own[first] ?? '');
  if (command === undefined || !commandShape(command).runs || stray === undefined) return;
  if (stray === first + 1 && own[stray] === 'help') return;
  const before = splitLine(own.slice(0, stray)).flags.keys();
  const unknown = [...before].find((flag) => findFlag(flag, command) === undefined);
  if (unknown !== undefined) throw unknownFlag(command, unknown);
  const meant = [...words.slice(0, stray), '--', ...words.slice(stray)].map(shellWord).join(' ');
  throw new UsageError(`${command} needs \`--\` before the command: petstore-mock ${meant}`);
}

function readInvocation({ own, flags, plain, toRun }: Line): Invocation {
  const [named = '', ...others] = plain.map((at) => own[at] ?? '');
  const known = COMMAND_BY_SPELLING.get(named);
  const command = known ?? 'serve';
  const { takes, runs } = commandShape(command);
  const layer = readFlagTexts(command, flags);
  const foreign = [...flags.keys()].filter((name) => !listFlags(command).map(spell).includes(name));
  const isMisspelt = foreign.some((name) => findFlag(name, command) === undefined);
  if (known === undefined && named !== '' && !isMisspelt) throw unknownCommand(named);
  if (foreign[0] !== undefined) throw unknownFlag(command, foreign[0]);
  if (runs) {
    const example = `petstore-mock ${command} -- npm test`;
    const problem = `${command} needs \`--\` and a command, as in ${example}`;
    if (!toRun[0]) throw new UsageError(problem);
    return { command, positionals: toRun, flags: layer };
  }
  requireWords(command, takes, others);
  const meant = `petstore-mock exec -- ${escapeControls(toRun.join(' '))}`;
  const problem = `${command} takes only flags, no command; did you mean ${meant}?`;
  if (toRun.length > 0) throw new UsageError(problem);
  return { command, positionals: others, flags: layer };
}

function readFlagTexts(command: CommandName, flags: Line['flags']): Layer {
  const given = listFlags(command).flatMap((name) => {
    const texts = flags.get(spell(name));
    if (texts === undefined) return [];
    const value = toJson(
      name,
      texts.map((text) => requireValue(name, text)),
    );
    return [[name, { value, origin: `--${spell(name)}` }] as const];
  });
  return new Map(given);
}

function requireValue(name: FlagName, text: string | undefined): string {
  const { placeholder = 'true or false', bare } = flagShape(name);
  const value = text ?? bare;
  if (value) return value;
  throw new UsageError(`--${spell(name)} needs a value (${placeholder})`);
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
