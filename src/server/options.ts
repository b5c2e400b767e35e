import { existsSync } from 'node:fs';
import { DAY_MS } from '../core/contract/date-time.ts';
import { DEFAULTS } from '../core/limits.ts';
import type { StartSettings, StoreChoice } from '../core/scenario/sandbox-start.ts';
import { object, optional } from '../core/shape/objects.ts';
import { ANY, convert, number, type Shape, text } from '../core/shape/shapes.ts';
import { describe, type Intersection } from '../core/words.ts';
import type { Timeouts } from './http/open-server.ts';
import type { MockOptions } from './open-sandboxes.ts';
import {
  AMOUNT,
  ASSUMED,
  CLOCK,
  checkValues,
  count,
  DELAY,
  FILE,
  FUNCTION,
  KEY_LISTS,
  MAX_HOLD,
  many,
  type OptionShape,
  OUTPUT,
  one,
  optionFor,
  SANDBOX_IDLE,
  SEED,
  SWITCH,
  TOKEN,
  VARIABLES,
} from './option-kinds.ts';

type Either<A, B> =
  | (A & { readonly [Name in keyof B]?: undefined })
  | (B & { readonly [Name in keyof A]?: undefined });

type StoreOptions = Either<Pick<StoreChoice, 'fixture'>, Pick<StoreChoice, 'animals' | 'orders'>>;

interface CodeOptions extends StartSettings, MockOptions {
  /** Where `HTTP_PROXY`, `HTTPS_PROXY` and `NO_PROXY` are looked up; by default nowhere. */
  readonly proxyVariables?: Readonly<Record<string, string | undefined>> | undefined;
  /** Called after each change of a watched file, with the error if the files cannot be used. */
  readonly onReload?: ((problem: Error | undefined) => void) | undefined;
  readonly timeouts?: Partial<Timeouts> | undefined;
}

/** Rows of options under the headings of the help. */
export type OptionGroups = Readonly<Record<string, Readonly<Record<string, OptionShape>>>>;

/** Options that a feature adds, by their group in the help. */
export interface AddedOptions {
  readonly name: string;
  /** Rows of options that a server takes. */
  readonly options?: OptionGroups;
  /** What only code and a config file can say, by name. */
  readonly settings?: Readonly<Record<string, Shape<unknown>>>;
}

type InCode<Row> = Row extends { readonly codeShape: Shape<infer Value> } ? Value : never;

type OptionsOfRows<Rows> = { readonly [Name in keyof Rows]?: InCode<Rows[Name]> | undefined };

/** The options of some rows, as code gives them. */
export type OptionsOf<Groups> = Intersection<
  { [Heading in keyof Groups]: OptionsOfRows<Groups[Heading]> }[keyof Groups]
>;

type RowOptions = Omit<OptionsOf<typeof OPTION_GROUPS>, 'fixture' | 'animals' | 'orders'>;

/** How to start a server. Defaults are those of the flags with the same names. */
export type BaseOptions = CodeOptions & StoreOptions & RowOptions;

const SCENARIOS = many(
  'FILE',
  convert(text(), (value, at, report) => {
    if (!value.includes(',') || existsSync(value)) return value;
    const repeated = value.split(',').map((name) => `--scenario ${name.trim()}`);
    const found = `${describe(value)} (repeat the flag for several: ${repeated.join(' ')})`;
    return report({ at, expected: 'one scenario', found });
  }),
);

export const forServe = optionFor('serve');
const forListeners = optionFor('serve', 'exec', 'health', 'ctl', 'gate');
const forReaders = optionFor('serve', 'exec', 'sweep', 'validate');
export const forServeAndExec = optionFor('serve', 'exec');
export const forChoosers = optionFor('serve', 'exec', 'sweep', 'assumptions');
export const forServers = optionFor('serve', 'exec', 'sweep');
const forServersAndCallers = optionFor('serve', 'exec', 'sweep', 'health', 'ctl', 'gate');
const forGenerators = optionFor('serve', 'exec', 'sweep', 'generate');

/** The options that are flags, too, under the headings of the help. */
export const OPTION_GROUPS = {
  Address: {
    /** 0 takes any free port. */
    port: forListeners(
      count(0, 65_535),
      `Port of the server; 0 picks a free one. By default ${DEFAULTS.port}, and a free one under exec, which reads no variable for it.`,
    ),
    host: forServersAndCallers(
      one('NAME', text()),
      'Address of the server; for 0.0.0.0, health and ctl call the loopback address.',
      { default: DEFAULTS.host },
    ),
    tls: forServersAndCallers(
      SWITCH,
      'Serve HTTPS with a new certificate; health accepts any, ctl that of --ca.',
    ),
    tlsCert: forServers(FILE, 'Serve HTTPS with this certificate, in PEM.'),
    tlsKey: forServers(FILE, 'Private key of --tls-cert, in PEM.'),
    tlsWrite: forServers(OUTPUT, 'Write the certificate to this file, for clients to trust.'),
  },
  Store: {
    fixture: forReaders(FILE, 'JSON file to start from, or the name of a shipped fixture.', {
      default: `"${DEFAULTS.fixture}"`,
    }),
    animals: forGenerators(AMOUNT, 'Generate this many animals instead of reading a fixture.', {
      excludes: ['fixture'],
    }),
    orders: forGenerators(AMOUNT, 'Generate this many orders instead of reading a fixture.', {
      excludes: ['fixture'],
    }),
    seed: forGenerators(SEED, 'Seed of everything random; the same seed gives the same store.', {
      default: DEFAULTS.seed,
    }),
    /** Whether every sandbox restarts when a file that it started from changes. */
    watch: forServeAndExec(SWITCH, 'Reload when the fixture or a scenario changes on disk.'),
  },
  Simulation: {
    /** Names of scenarios that the package ships, or paths of others; later ones win. */
    scenarios: forServers(SCENARIOS, 'Scenario to use: a shipped one or a file. Later ones win.', {
      spelling: 'scenario',
    }),
    sandboxRequired: forServers(SWITCH, 'Refuse requests that name no sandbox.', { agrees: true }),
    maxSandboxes: forServers(AMOUNT, 'Maximum number of sandboxes; the next gets 503.', {
      default: DEFAULTS.maxSandboxes,
      agrees: true,
    }),
    sandboxIdle: forServers(SANDBOX_IDLE, 'Remove sandboxes idle for this long.', { agrees: true }),
    journal: forServers(AMOUNT, 'Exchanges to keep in each sandbox.', {
      default: DEFAULTS.journal,
      agrees: true,
    }),
  },
  Answers: {
    assume: forChoosers(ASSUMED, 'Choose another option of an assumption, as ID=OPTION.'),
    delay: forServers(DELAY, 'Delay replies that no rule decides.'),
    maxHold: forServers(MAX_HOLD, 'Maximum time to hold a reply.', {
      default: 'PT5M',
      agrees: true,
    }),
    clock: forServers(CLOCK, 'Time to start from, such as 2030-12-06T00:00:00Z.'),
    frozen: optionFor(
      'serve',
      'exec',
      'sweep',
      'ctl',
    )(SWITCH, 'Stop the clock.', {
      spelling: 'freeze',
    }),
    plain: forServers(SWITCH, 'Omit the Mock-Basis header, as the service does.'),
  },
  'Control API': {
    /** The token that the control API requires on a host other than loopback; random by default. */
    controlToken: forServers(
      TOKEN,
      'Token of the control API, required unless the host is loopback; generated and printed by default.',
      { agrees: true },
    ),
    noControl: forServers(
      SWITCH,
      'Turn off the control API, except for health and the certificate.',
    ),
  },
} satisfies OptionGroups;

const OPTIONS: Intersection<(typeof OPTION_GROUPS)[keyof typeof OPTION_GROUPS]> = Object.assign(
  {},
  ...Object.values(OPTION_GROUPS),
);

const TIME = optional(number(1, DAY_MS, 'milliseconds from 1 to a day'), '');

const CODE_OPTIONS: Readonly<
  Record<Exclude<keyof CodeOptions, keyof typeof OPTIONS>, Shape<unknown>>
> = {
  keys: KEY_LISTS,
  timeouts: object({ headers: TIME, idle: TIME, stop: TIME }),
  proxyVariables: VARIABLES,
  onReload: FUNCTION,
  onNotice: FUNCTION,
  onFinding: FUNCTION,
  onControlCall: FUNCTION,
  observe: FUNCTION,
};

const APP_OPTIONS = [
  ...(['fixture', 'seed', 'assume', 'keys', 'clock', 'frozen', 'delay', 'maxHold'] as const),
  ...(['journal', 'maxSandboxes', 'sandboxRequired', 'sandboxIdle'] as const),
  ...(['plain', 'noControl', 'controlToken'] as const),
  ...(['observe', 'onNotice', 'onFinding', 'onControlCall'] as const),
] as const satisfies readonly (keyof BaseOptions)[];

/** Options of a mock that an Express app mounts. */
export type AppOptions = Pick<BaseOptions, (typeof APP_OPTIONS)[number]>;

/** The rows of a server: its own, and those that features add. */
function listRows(features: readonly AddedOptions[]): Readonly<Record<string, OptionShape>> {
  return Object.assign({}, OPTIONS, ...features.flatMap((it) => Object.values(it.options ?? {})));
}

function listShapes(features: readonly AddedOptions[]): Readonly<Record<string, Shape<unknown>>> {
  const settings: object[] = features.map((feature) => feature.settings ?? {});
  return Object.assign(codeShapes(listRows(features)), CODE_OPTIONS, ...settings);
}

/** The names of all options, those that only code can give included. */
export function listOptionNames(features: readonly AddedOptions[]): readonly string[] {
  return Object.keys(listShapes(features));
}

/** What servers that share sandboxes must have in common besides their start. */
export function listAgreed(options: object, features: readonly AddedOptions[]) {
  const rows = Object.entries(listRows(features)).filter(([, { agrees }]) => agrees);
  return rows.map(([name]) => [name, Reflect.get(options, name)]);
}

type NameOption = (name: string) => string;

/** @throws RangeError that names the first wrong option */
export function checkOptions(
  options: object,
  features: readonly AddedOptions[],
  nameOf: NameOption = String,
): asserts options is BaseOptions {
  checkGiven(options, listRows(features), listShapes(features), nameOf);
}

/** The same for `createApp`, which listens nowhere. */
export function checkAppOptions(options: object): asserts options is AppOptions {
  const known = listShapes([]);
  const shapes = APP_OPTIONS.map((name) => [name, known[name] ?? ANY]);
  checkGiven(options, OPTIONS, Object.fromEntries(shapes), String);
}

function codeShapes(rows: Readonly<Record<string, OptionShape>>) {
  return Object.fromEntries(Object.entries(rows).map(([name, { codeShape }]) => [name, codeShape]));
}

function checkGiven(
  options: object,
  rows: Readonly<Record<string, OptionShape>>,
  shapes: Readonly<Record<string, Shape<unknown>>>,
  nameOf: NameOption,
): void {
  checkValues(options, shapes, nameOf);
  const given = Object.keys(rows).filter((name) => Reflect.get(options, name) !== undefined);
  for (const name of given) {
    const other = given.find((it) => rows[name]?.excludes?.includes(it));
    if (other === undefined) continue;
    const both = `${nameOf(name)} and ${nameOf(other)}`;
    throw new RangeError(`${both} exclude each other: drop one of them`);
  }
}
