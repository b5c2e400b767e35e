import { dirname, isAbsolute, join } from 'node:path';
import { closest, distance } from 'fastest-levenshtein';
import type { SavedVerdicts } from '../deployment/check/verdict-shapes.ts';
import { MOCK_VARIABLES } from '../library/mock-variables.ts';
import { object, optional } from '../shape/objects.ts';
import { readAs, type ShapeProblem } from '../shape/shapes.ts';
import { readJson } from '../shape/source-text.ts';
import { isNameOf } from '../tables.ts';
import { firstProblems } from '../words.ts';
import { refusal, textIn, UsageError } from './command.ts';
import type { CommandName } from './command-table.ts';
import {
  FLAG_VALUES,
  FLAGS,
  type FlagName,
  type Flags,
  flagShape,
  flagSpelled,
  flagsFrom,
  flagsOf,
  spellingOf,
} from './flags.ts';

/** What the command line asks for. */
export interface Invocation {
  readonly command: CommandName;
  /** What to print instead of running the command. */
  readonly shows?: 'help' | 'version';
  /** The words after the command's name; for `exec` and `sweep`, those after `--`. */
  readonly positionals: readonly string[];
  readonly flags: Layer;
}

/** A flag as one place gives it. */
interface FlagInput {
  /** The value as JSON. */
  readonly value: unknown;
  /** The place, for messages: `--port`, `environment variable PETSTORE_MOCK_PORT`. */
  readonly origin: string;
}

/** The flags that one place gives: the command line, the environment or a config file. */
type Layer = ReadonlyMap<FlagName, FlagInput>;

export type Variables = Readonly<Record<string, string | undefined>>;

/** Decimal digits only: 1e3 and 0x10 are most likely mistakes. */
const INTEGER = /^[+-]?\d{1,15}$/;

const SWITCH: Readonly<Record<string, boolean>> = { true: true, 1: true, false: false, 0: false };

/** A flag given as text, as JSON. Text that does not convert stays, so that the error shows it. */
export function jsonOf(name: FlagName, texts: readonly string[]): unknown {
  const text = texts.at(-1) ?? '';
  switch (flagShape(name).type) {
    case 'list':
      return texts;
    case 'words':
      return texts.flatMap((it) => it.split(',')).map((it) => it.trim());
    case 'switch':
      return SWITCH[text.toLowerCase()] ?? text;
    case 'integer':
      return INTEGER.test(text) ? Number(text) : text;
    case 'text':
      return text;
  }
}

/**
 * The flags of a command from the command line, the environment and a config file. A place wins over
 * those after it, flag by flag; assumptions are merged, one by one, and `--rate-limit` wins over the
 * same in `--assume`.
 *
 * @throws UsageError for a wrong value
 */
export async function readFlags(
  { command, flags: onCommandLine }: Invocation,
  variables: Variables,
): Promise<Flags> {
  const own = flagsOf(command);
  const environment = fromEnvironment(command, variables);
  const config =
    own.includes('config') && (onCommandLine.get('config') ?? environment.get('config'));
  const file = config && (await fromConfigFile(String(config.value), config.origin));
  let flags: Flags = file ? { checked: file.checked } : {};
  for (const layer of [...(file ? [file.layer] : []), environment, onCommandLine]) {
    const entries = [...layer].filter(([name]) => own.includes(name));
    const values = Object.fromEntries(entries.map(([name, { value }]) => [name, value]));
    const reading = readAs(FLAG_VALUES, values);
    if (!reading.ok) throw wrongValue(layer, reading.problems);
    const { value } = reading;
    const assume = { ...flags.assume, ...value.assume, ...value.rateLimit };
    flags = { ...flags, ...value, assume };
  }
  return flags;
}

function wrongValue(layer: Layer, [problem]: readonly ShapeProblem[]): Error {
  if (problem === undefined) return new TypeError('A value was refused without a reason.');
  const { at, ofName, expected, found } = problem;
  const [flag = '', ...inside] = at.filter((step) => typeof step === 'string');
  const origin = isNameOf(FLAGS, flag) ? layer.get(flag)?.origin : flag;
  return refusal([origin, ...(ofName ? [] : inside)].join(' '), expected, found);
}

const PREFIX = 'PETSTORE_MOCK_';

/** A name within this many edits of one of our variables counts as a typo. */
const NEAR = 2;

/** The value of PETSTORE_MOCK_PORT that Kubernetes and Docker links set for a service petstore-mock. */
const SERVICE_LINK = /^(?:tcp|udp):\/\//;

/** The environment variable for a flag. */
export function variableOf(flag: FlagName): string {
  return PREFIX + spellingOf(flag).toUpperCase().replaceAll('-', '_');
}

/** The variables that a surrounding `exec` or `sweep` sets for its command. */
const OF_RUN: ReadonlySet<string> = new Set(Object.values(MOCK_VARIABLES));

/** The flags that a command reads from variables, by variable. Later ones win. */
function variablesOf(command: CommandName): ReadonlyMap<string, FlagName> {
  if (command !== 'ctl') {
    return new Map(flagsFrom('environment').map((flag) => [variableOf(flag), flag]));
  }
  const flags = ['url', 'sandbox', 'token', 'ca'] as const;
  const own = flags.map((flag) => [variableOf(flag), flag] as const);
  return new Map([[MOCK_VARIABLES.controlToken, 'token'], ...own]);
}

/**
 * The flags in the environment. Ignores empty variables. Only `ctl` reads what a surrounding `exec` or
 * `sweep` sets, which is all that sets the address of the control API.
 *
 * @throws UsageError for a variable that is probably a misspelt flag
 */
function fromEnvironment(command: CommandName, variables: Variables): Layer {
  const known = variablesOf(command);
  const isBeside = command !== 'ctl' && variables[MOCK_VARIABLES.controlUrl] !== undefined;
  const layer = new Map<FlagName, FlagInput>();
  for (const [name, flag] of known) {
    const text = variables[name]?.trim();
    if (!text || (isBeside && OF_RUN.has(name))) continue;
    if (flag === 'port' && SERVICE_LINK.test(text)) continue;
    const texts = flagShape(flag).type === 'list' ? text.split(/\s*,\s*/).filter(Boolean) : [text];
    layer.set(flag, { value: jsonOf(flag, texts), origin: `environment variable ${name}` });
  }
  for (const [name, text] of command === 'ctl' ? [] : Object.entries(variables)) {
    const upper = name.toUpperCase();
    if (!text || !upper.startsWith(PREFIX) || known.has(name) || OF_RUN.has(name)) continue;
    const nearest = closest(upper, [...known.keys()]);
    if (distance(upper, nearest) > NEAR) continue;
    throw new UsageError(`environment variable ${name} matches no flag (did you mean ${nearest}?)`);
  }
  return layer;
}

interface ConfigFile {
  readonly layer: Layer;
  /** What `check --save` added. */
  readonly checked: SavedVerdicts | undefined;
}

/**
 * Reads a config file: a JSON object of flags by name. Relative paths start from the file's folder.
 *
 * @throws UsageError if it cannot be read, is not JSON, or has an unknown flag or a wrong value
 */
export async function fromConfigFile(file: string, origin: string): Promise<ConfigFile> {
  const parsed = readJson(`config file ${file}`, await textIn(file, origin, 'a JSON file'));
  if (!parsed.ok) throw fileError(parsed.problems);
  const { SAVED_VERDICTS } = await import('../deployment/check/verdict-shapes.ts');
  const members = flagsFrom('config').map((name) => [spellingOf(name), flagShape(name)] as const);
  const checked = optional(SAVED_VERDICTS, 'What a check of a deployment found out.');
  const shape = object(
    { ...Object.fromEntries(members), checked },
    { expected: 'an object of flags by name' },
  );
  const reading = readAs(shape, parsed.value);
  if (!reading.ok) throw fileError(parsed.linesOf(reading.problems));
  const layer = new Map<FlagName, FlagInput>();
  for (const [spelling, value] of Object.entries<unknown>(Object(parsed.value))) {
    const name = flagSpelled(spelling);
    if (name === undefined) continue;
    const origin = `config file ${file}: ${spelling}`;
    layer.set(name, { value: beside(file, name, value), origin });
  }
  return { layer, checked: reading.value.checked };
}

function fileError(problems: readonly string[]): UsageError {
  return new UsageError(firstProblems(problems, String).join('\n'));
}

/** Flags for which a plain word is the name of something that ships, not a path. */
const SHIPPED: readonly FlagName[] = ['fixture', 'scenarios'];

/** Resolves the paths in a flag's value against the folder of the config file. */
function beside(file: string, flag: FlagName, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((it: unknown) => beside(file, flag, it));
  const isPath = flagShape(flag).placeholder === 'FILE';
  if (!isPath || typeof value !== 'string' || isAbsolute(value)) return value;
  return SHIPPED.includes(flag) && /^[\w-]+$/.test(value) ? value : join(dirname(file), value);
}
