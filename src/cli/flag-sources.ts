import { dirname, isAbsolute, join } from 'node:path';
import { closest, distance } from 'fastest-levenshtein';
import { MOCK_VARIABLES } from '../client/mock-variables.ts';
import { firstProblems, formatProblem, type TextProblem } from '../core/problems.ts';
import { type Member, object } from '../core/shape/objects.ts';
import { refusalText } from '../core/shape/option-kinds.ts';
import { readAs } from '../core/shape/shapes.ts';
import { readJson } from '../core/shape/source-text.ts';
import { isRowName } from '../core/tables.ts';
import { readTextFile, UsageError, type Variables } from '../terminal/command.ts';
import type { CommandName } from './command-table.ts';
import {
  CONFIG_OPTIONS,
  FLAG_NAMES,
  FLAG_VALUES,
  FLAGS,
  type FlagName,
  type Flags,
  findFlag,
  flagShape,
  listFlags,
  listFlagsFrom,
  spell,
  variableFor,
} from './flags.ts';

interface FlagInput {
  readonly value: unknown;
  /** The place, for messages: `--port`, `environment variable PETSTORE_MOCK_PORT`. */
  readonly origin: string;
}

export type Layer = ReadonlyMap<FlagName, FlagInput>;

/** Decimal digits only: 1e3 and 0x10 are most likely mistakes. */
const INTEGER = /^[+-]?\d{1,15}$/;

const SWITCH_VALUES: Readonly<Record<string, boolean>> = {
  true: true,
  1: true,
  false: false,
  0: false,
};

/** A flag given as text, as JSON. Text that does not convert stays, so that the error shows it. */
export function toJson(name: FlagName, texts: readonly string[]): unknown {
  const text = texts.at(-1) ?? '';
  switch (flagShape(name).type) {
    case 'list':
      return texts;
    case 'words':
      return texts.flatMap((list) => list.split(',')).map((word) => word.trim());
    case 'switch':
      return SWITCH_VALUES[text.toLowerCase()] ?? text;
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
 */
export async function readFlags(
  command: CommandName,
  commandLine: Layer,
  variables: Variables,
): Promise<Flags> {
  const own = listFlags(command);
  const environment = readEnvironment(command, variables, commandLine);
  const config = own.includes('config') && (commandLine.get('config') ?? environment.get('config'));
  const file = config && (await readConfigFile(String(config.value), config.origin));
  let flags: Flags = file ? file.settings : {};
  for (const layer of [...(file ? [file.layer] : []), environment, commandLine]) {
    const entries = [...layer].filter(([name]) => own.includes(name));
    const values = Object.fromEntries(entries.map(([name, { value }]) => [name, value]));
    const reading = readAs(FLAG_VALUES, values);
    if (!reading.ok) {
      const nameOrigin = (name: string) =>
        (isRowName(FLAGS, name) && layer.get(name)?.origin) || name;
      throw new UsageError(refusalText(reading.problems, nameOrigin));
    }
    const { value } = reading;
    flags = {
      ...flags,
      ...value,
      assume: { ...flags.assume, ...value.assume, ...value.rateLimit },
    };
  }
  return flags;
}

/** A name within this many edits of one of our variables counts as a typo. */
const MAX_TYPO_EDITS = 2;

/** The value of PETSTORE_MOCK_PORT that Kubernetes and Docker links set for a service petstore-mock. */
const SERVICE_LINK = /^(?:tcp|udp):\/\//;

/** The variables that a surrounding `exec` or `sweep` sets for its command. */
const RUN_VARIABLES: ReadonlySet<string> = new Set(Object.values(MOCK_VARIABLES));

function listVariables(command: CommandName): ReadonlyMap<string, FlagName> {
  if (isCaller(command)) {
    const { controlToken, controlUrl } = MOCK_VARIABLES;
    const flags = ['url', 'sandbox', 'token', 'ca', 'host', 'port', 'tls', 'config'] as const;
    const own = flags.map((flag) => [variableFor(flag), flag] as const);
    return new Map([[controlToken, 'token'], [controlUrl, 'url'], ...own]);
  }
  const others = FLAG_NAMES.filter((flag) => flagShape(flag).variable !== undefined);
  const flags = [...listFlagsFrom('environment'), ...others];
  return new Map(flags.map((flag) => [variableFor(flag), flag]));
}

/** Whether it calls a server: the one of a surrounding `exec` or `sweep`, unless a flag names another. */
function isCaller(command: CommandName): boolean {
  return ['ctl', 'gate', 'health'].includes(command);
}

function readEnvironment(command: CommandName, variables: Variables, commandLine: Layer): Layer {
  const known = listVariables(command);
  const isInRun = !isCaller(command) && variables[MOCK_VARIABLES.controlUrl] !== undefined;
  const layer = new Map<FlagName, FlagInput>();
  for (const [name, flag] of known) {
    const text = variables[name]?.trim();
    if (!text || (isInRun && RUN_VARIABLES.has(name))) continue;
    // A port that is meant for a server in another terminal: `exec` starts one beside it.
    if (flag === 'port' && (command === 'exec' || SERVICE_LINK.test(text))) continue;
    if (flag === 'url' && (commandLine.has('host') || commandLine.has('port'))) continue;
    const texts = flagShape(flag).type === 'list' ? text.split(/\s*,\s*/).filter(Boolean) : [text];
    layer.set(flag, { value: toJson(flag, texts), origin: `environment variable ${name}` });
  }
  for (const [name, text] of isCaller(command) ? [] : Object.entries(variables)) {
    const upper = name.toUpperCase();
    if (!text || !upper.startsWith('PETSTORE_MOCK_') || known.has(name) || RUN_VARIABLES.has(name))
      continue;
    const nearest = closest(upper, [...known.keys()]);
    if (distance(upper, nearest) > MAX_TYPO_EDITS) continue;
    throw new UsageError(`environment variable ${name} matches no flag (did you mean ${nearest}?)`);
  }
  return layer;
}

/** Reads a JSON object of flags and settings of features. Relative paths start from the file's folder. */
export async function readConfigFile(file: string, origin: string) {
  const parsed = readJson(`config file ${file}`, await readTextFile(file, origin, 'a JSON file'));
  if (!parsed.ok) throw fileError(parsed.problems);
  const members = listFlagsFrom('config').map((name) => [spell(name), flagShape(name)] as const);
  const own = Object.entries(CONFIG_OPTIONS);
  const shape = object(Object.fromEntries<Member<unknown>>([...members, ...own]), {
    expected: 'an object of flags by name',
  });
  const reading = readAs(shape, parsed.value);
  if (!reading.ok) throw fileError(parsed.locate(reading.problems));
  const layer = new Map<FlagName, FlagInput>();
  for (const [spelling, value] of Object.entries<unknown>(Object(parsed.value))) {
    const name = findFlag(spelling, 'serve');
    if (name === undefined) continue;
    const input = {
      value: resolveBeside(file, name, value),
      origin: `config file ${file}: ${spelling}`,
    };
    layer.set(name, input);
    // Who calls the server that starts from this file gives its token.
    if (name === 'controlToken') layer.set('token', input);
  }
  const { value } = reading;
  return { layer, settings: Object.fromEntries(own.map(([name]) => [name, value[name]])) };
}

export function fileError(problems: readonly TextProblem[]): UsageError {
  return new UsageError(firstProblems(problems, formatProblem).join('\n'));
}

/** Flags for which a plain word is the name of something that ships, not a path. */
const SHIPPED: readonly FlagName[] = ['fixture', 'scenarios'];

function resolveBeside(file: string, flag: FlagName, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item: unknown) => resolveBeside(file, flag, item));
  const isPath = ['FILE', 'DIR'].includes(flagShape(flag).placeholder ?? '');
  if (!isPath || typeof value !== 'string' || isAbsolute(value)) return value;
  return SHIPPED.includes(flag) && /^[\w-]+$/.test(value) ? value : join(dirname(file), value);
}
