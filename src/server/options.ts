import { DEFAULTS } from '../core/limits.ts';
import type { StartSettings, StoreChoice } from '../core/scenario/sandbox-start.ts';
import { HOLD_TIME, IDLE_TIME, INSTANT, MAX_DELAY_MS } from '../core/scenario/settings-shapes.ts';
import { LATEST } from '../core/service/clock.ts';
import { object, optional } from '../core/shape/objects.ts';
import {
  ANY,
  choice,
  either,
  FLAG,
  KEY,
  list,
  number,
  readAs,
  type Shape,
  text,
} from '../core/shape/shapes.ts';
import type { Timeouts } from './http/listener.ts';
import type { CertificateOptions } from './http/tls.ts';
import type { MockOptions } from './mock.ts';
import {
  AMOUNT,
  ASSUMED,
  count,
  dropUndefined,
  EXPIRY_MAP,
  FILE,
  FOLDER,
  FUNCTION,
  inMilliseconds,
  KEYS,
  milliseconds,
  type OptionShape,
  OUTPUT,
  one,
  optionFor,
  REDIS,
  refusalText,
  SCENARIOS,
  SWITCH,
  TOKEN,
  UPSTREAM,
  VARIABLES,
} from './option-kinds.ts';

type Either<A, B> =
  | (A & { readonly [Name in keyof B]?: undefined })
  | (B & { readonly [Name in keyof A]?: undefined });

type StoreOptions = Either<Pick<StoreChoice, 'fixture'>, Pick<StoreChoice, 'animals' | 'orders'>>;

type PersistenceOptions = Either<
  {
    /** A file that keeps the default sandbox's store through restarts. */
    readonly db?: string | undefined;
    /** Whether every sandbox restarts when a file that it started from changes. */
    readonly watch?: boolean | undefined;
  },
  {
    /** The address of a Redis through which servers share all sandboxes: `redis://HOST:PORT/DB`. */
    readonly shared?: string | undefined;
  }
>;

interface OtherOptions extends StartSettings, MockOptions, CertificateOptions {
  readonly host?: string | undefined;
  /** 0 takes any free port. */
  readonly port?: number | undefined;
  /** Names of scenarios that the package ships, or paths of others; later ones win. */
  readonly scenarios?: readonly string[] | undefined;
  /** A folder that keeps the default sandbox's own scenarios as files. */
  readonly scenarioFolder?: string | undefined;
  /** The base URL of a deployment that answers in place of the mock. */
  readonly upstream?: string | URL | undefined;
  /** The key that the deployment gets in place of the client's. */
  readonly upstreamKey?: string | undefined;
  /** Milliseconds to wait for the deployment; 30 seconds by default. */
  readonly upstreamTimeout?: number | undefined;
  /** Where `HTTP_PROXY`, `HTTPS_PROXY` and `NO_PROXY` are looked up; by default nowhere. */
  readonly proxyVariables?: Readonly<Record<string, string | undefined>> | undefined;
  /** A file with a certificate to trust besides those that Node trusts, in PEM. */
  readonly cacert?: string | undefined;
  /** The token that the control API requires on a host other than loopback; random by default. */
  readonly controlToken?: string | undefined;
  /** Called after each change of a watched file, with the error if the files cannot be used. */
  readonly onReload?: ((problem: Error | undefined) => void) | undefined;
  readonly timeouts?: Partial<Timeouts> | undefined;
}

/** How to start a server. Defaults are those of the flags with the same names. */
export type ServerOptions = OtherOptions & StoreOptions & PersistenceOptions;

const DAY_MS = 86_400_000;

const forServe = optionFor('serve');
const forListeners = optionFor('serve', 'exec', 'health', 'ctl');
const forReaders = optionFor('serve', 'exec', 'sweep', 'validate');
const forServeAndExec = optionFor('serve', 'exec');
export const forChoosers = optionFor('serve', 'exec', 'sweep', 'assumptions');
export const forServers = optionFor('serve', 'exec', 'sweep');
const forServersAndCallers = optionFor('serve', 'exec', 'sweep', 'health', 'ctl');
const forForwarders = optionFor('serve', 'exec', 'check', 'record');
const forGenerators = optionFor('serve', 'exec', 'sweep', 'generate');

type OptionRows = {
  readonly [Name in keyof ServerOptions]?: OptionShape<unknown, NonNullable<ServerOptions[Name]>>;
};

/** The options that are flags, too, under the headings of the help. */
export const OPTION_GROUPS = {
  Address: {
    port: forListeners(
      count(0, 65_535),
      `Port of the server; 0 picks a free one. By default ${DEFAULTS.port}, and a free one under exec.`,
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
    seed: forGenerators(
      count(-(2 ** 31), 2 ** 31 - 1),
      'Seed of everything random; the same seed gives the same store.',
      { default: DEFAULTS.seed },
    ),
    db: forServeAndExec(FILE, 'Keep the store in this file across restarts.', {
      excludes: ['shared'],
    }),
    shared: forServe(
      REDIS,
      'Share sandboxes through this Redis, such as redis://127.0.0.1:6379/0.',
    ),
    watch: forServeAndExec(SWITCH, 'Reload when the fixture or a scenario changes on disk.', {
      excludes: ['shared'],
    }),
  },
  Simulation: {
    scenarios: forServers(SCENARIOS, 'Scenario to use: a shipped one or a file. Later ones win.'),
    scenarioFolder: forServe(FOLDER, 'Keep your own scenarios as files in this folder.', {
      excludes: ['shared'],
    }),
    sandboxRequired: forServers(SWITCH, 'Refuse requests that name no sandbox.'),
    maxSandboxes: forServers(AMOUNT, 'Maximum number of sandboxes; the next gets 503.', {
      default: DEFAULTS.maxSandboxes,
    }),
    sandboxIdle: forServers(
      inMilliseconds(
        'DURATION',
        IDLE_TIME,
        number(1, Number.POSITIVE_INFINITY, 'milliseconds, at least 1'),
      ),
      'Remove sandboxes idle for this long.',
    ),
    journal: forServers(AMOUNT, 'Exchanges to keep in each sandbox.', {
      default: DEFAULTS.journal,
    }),
  },
  Answers: {
    assume: forChoosers(ASSUMED, 'Choose another option of an assumption, as ID=OPTION.'),
    delay: forServers(milliseconds(0, MAX_DELAY_MS), 'Delay replies that no rule decides.'),
    maxHold: forServers(
      inMilliseconds('DURATION', HOLD_TIME, number(1, DAY_MS, 'milliseconds from 1 to a day')),
      'Maximum time to hold a reply.',
      { default: 'PT5M' },
    ),
    clock: forServers(
      inMilliseconds('INSTANT', INSTANT, number(0, LATEST, 'milliseconds since 1970')),
      'Time to start from, such as 2030-12-06T00:00:00Z.',
    ),
    frozen: optionFor('serve', 'exec', 'sweep', 'ctl')(SWITCH, 'Stop the clock.'),
    plain: forServers(SWITCH, 'Omit the Mock-Basis header, as the service does.'),
  },
  'Control API': {
    controlToken: forServers(
      TOKEN,
      'Token of the control API, required unless the host is loopback; generated and printed by default.',
    ),
    noControl: forServers(
      SWITCH,
      'Turn off the control API, except for health and the certificate.',
    ),
  },
  Deployment: {
    upstream: forServeAndExec(
      UPSTREAM,
      'Forward requests to the deployment with this base URL, and return its replies.',
    ),
    upstreamKey: forServeAndExec(
      one('KEY', KEY),
      "API key to send to the deployment instead of the client's.",
    ),
    upstreamTimeout: forServeAndExec(
      milliseconds(1, 600_000),
      'Milliseconds to wait for the deployment before the client gets 504.',
      { default: DEFAULTS.upstreamTimeout },
    ),
    cacert: forForwarders(FILE, 'Also trust this certificate, in PEM.'),
  },
} satisfies Readonly<Record<string, OptionRows>>;

const { Address, Store, Simulation, Answers, Deployment, 'Control API': Control } = OPTION_GROUPS;

const OPTIONS = {
  ...Address,
  ...Store,
  ...Simulation,
  ...Answers,
  ...Control,
  ...Deployment,
};

const TIME = optional(number(1, DAY_MS, 'milliseconds from 1 to a day'), '');

const CODE_OPTIONS: Readonly<
  Record<Exclude<keyof ServerOptions, keyof typeof OPTIONS>, Shape<unknown>>
> = {
  keys: object({
    valid: optional(KEYS.codeShape, ''),
    readOnly: optional(KEYS.codeShape, ''),
    allReadOnly: optional(FLAG, ''),
    invalid: optional(either(choice(['all']), list(KEY)), ''),
    any: optional(FLAG, ''),
    expires: optional(EXPIRY_MAP, ''),
  }),
  checked: object({}, { open: true }),
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
  ...(['plain', 'noControl', 'controlToken', 'checked'] as const),
  ...(['observe', 'onNotice', 'onFinding', 'onControlCall'] as const),
] as const satisfies readonly (keyof ServerOptions)[];

export type AppOptions = Pick<ServerOptions, (typeof APP_OPTIONS)[number]>;

const CODE_SHAPES: Readonly<Record<string, Shape<unknown>>> = {
  ...Object.fromEntries(Object.entries(OPTIONS).map(([name, { codeShape }]) => [name, codeShape])),
  ...CODE_OPTIONS,
};

export const OPTION_NAMES = Object.keys(CODE_SHAPES);

type NameOption = (name: string) => string;

/** @throws RangeError that names the first wrong option */
export function checkOptions(
  options: object,
  nameOf: NameOption = String,
): asserts options is ServerOptions {
  check(options, OPTION_NAMES, nameOf);
}

/** The same for `createApp`, which listens nowhere. */
export function checkAppOptions(options: object): asserts options is AppOptions {
  check(options, APP_OPTIONS, String);
}

function check(options: object, names: readonly string[], nameOf: NameOption): void {
  const members = names.map((name) => [name, optional(CODE_SHAPES[name] ?? ANY, '')]);
  const shape = object(Object.fromEntries(members), { expectedName: 'the name of an option' });
  const reading = readAs(shape, dropUndefined(options));
  if (!reading.ok) throw new RangeError(refusalText(reading.problems, nameOf));
  const isGiven = (name: string) => Reflect.get(options, name) !== undefined;
  for (const [name, { excludes }] of Object.entries(OPTIONS).filter(([name]) => isGiven(name))) {
    const other = excludes?.find(isGiven);
    if (other === undefined) continue;
    const both = `${nameOf(name)} and ${nameOf(other)}`;
    throw new RangeError(`${both} exclude each other: drop one of them`);
  }
}
