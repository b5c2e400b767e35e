import { existsSync } from 'node:fs';
import { DAY_MS } from '../core/contract/date-time.ts';
import { isObject } from '../core/json.ts';
import { DEFAULTS } from '../core/limits.ts';
import {
  AMOUNT,
  forGenerators,
  forServers,
  MOCK_OPTIONS,
  type MockOptions,
} from '../core/service/mock-options.ts';
import { object, optional } from '../core/shape/objects.ts';
import {
  callback,
  checkOptionsOf,
  count,
  FILE,
  inCode,
  listRows,
  many,
  type OptionGroups,
  type OptionsOf,
  OUTPUT,
  one,
  optionFor,
  SWITCH,
  textThat,
} from '../core/shape/option-kinds.ts';
import { convert, number, scalar, text, VISIBLE, withTypes } from '../core/shape/shapes.ts';
import { describe } from '../core/words.ts';
import { type FinishedCall, OBSERVERS, type Observers } from './observers.ts';

/** Options that a feature adds to those of the server. */
export interface AddedOptions {
  readonly name: string;
  readonly options?: OptionGroups;
}

const SCENARIOS = many(
  'FILE',
  convert(text(), (value, at, report) => {
    if (!value.includes(',') || existsSync(value)) return value;
    const repeated = value.split(',').map((name) => `--scenario ${name.trim()}`);
    const found = `${describe(value)} (repeat the flag for several: ${repeated.join(' ')})`;
    return report({ at, expected: 'one scenario', found });
  }),
);

export const TOKEN = one(
  'TOKEN',
  textThat(
    'a token of visible ASCII characters',
    (value) => VISIBLE.test(value),
    'another character in it',
  ),
);

/** Time limits for clients, in milliseconds. */
export interface Timeouts {
  /** To send the head of a request. */
  readonly headers: number;
  /** To send a request, to send the next one, and to read a reply. */
  readonly idle: number;
  /** To finish everything under way when the server stops. */
  readonly stop: number;
}

/** Environment variables, such as `process.env`. */
const VARIABLES = withTypes<Readonly<Record<string, string | undefined>>, never>(
  scalar('an object of strings', {}, (value) => {
    const isRight = (text: unknown) => text === undefined || typeof text === 'string';
    return isObject(value) && Object.values(value).every(isRight) ? value : undefined;
  }),
);

const TIME = optional(number(1, DAY_MS, 'milliseconds from 1 to a day'), '');

const TIMEOUTS = object({ headers: TIME, idle: TIME, stop: TIME });

export const forServe = optionFor('serve');
export const forServeAndExec = optionFor('serve', 'exec');
const forServersAndCallers = optionFor('serve', 'exec', 'sweep', 'health', 'ctl', 'gate');

/** Options of `createApp` besides those of every mock. */
const APP_OPTIONS = {
  Store: {
    fixture: optionFor(
      'serve',
      'exec',
      'sweep',
      'validate',
    )(FILE, 'JSON file to start from, or the name of a shipped fixture.', {
      default: `"${DEFAULTS.fixture}"`,
    }),
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
  Code: {
    /** Called after each call of the control API, except `health` and `status`. */
    onControlCall: callback<[call: FinishedCall]>(),
  },
} satisfies OptionGroups;

/** Options of a server, which listens on a port. */
const SERVER_OPTIONS = {
  Address: {
    /** The port to listen on; 0 chooses a free one. */
    port: optionFor(
      'serve',
      'exec',
      'health',
      'ctl',
      'gate',
    )(
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
    /** A file with the certificate in PEM; by default one is generated for this server's names. */
    tlsCert: forServers(FILE, 'Serve HTTPS with this certificate, in PEM.'),
    /** A file with the private key of `tlsCert` in PEM. */
    tlsKey: forServers(FILE, 'Private key of --tls-cert, in PEM.'),
    /** A file to write the certificate to, for clients to trust. */
    tlsWrite: forServers(OUTPUT, 'Write the certificate to this file, for clients to trust.'),
  },
  Store: {
    animals: forGenerators(AMOUNT, 'Generate this many animals instead of reading a fixture.', {
      excludes: ['fixture'],
    }),
    orders: forGenerators(AMOUNT, 'Generate this many orders instead of reading a fixture.', {
      excludes: ['fixture'],
    }),
    /** Whether every sandbox restarts when a file that it started from changes. */
    watch: forServeAndExec(SWITCH, 'Reload when the fixture or a scenario changes on disk.'),
  },
  Simulation: {
    /** Names of scenarios that the package ships, or paths of others; later ones win. */
    scenarios: forServers(SCENARIOS, 'Scenario to use: a shipped one or a file. Later ones win.', {
      spelling: 'scenario',
    }),
  },
  Code: {
    timeouts: inCode(withTypes<Partial<Timeouts>, never>(TIMEOUTS)),
    /** Where to look up `HTTP_PROXY`, `HTTPS_PROXY` and `NO_PROXY`; nowhere by default. */
    proxyVariables: inCode(VARIABLES),
    /** Called after each change of a watched file, with the error if the files cannot be used. */
    onReload: callback<[problem: Error | undefined]>(),
  },
} satisfies OptionGroups;

/** All options that are also flags, by the headings of the help. */
export const OPTION_GROUPS = {
  Address: SERVER_OPTIONS.Address,
  Store: { ...APP_OPTIONS.Store, ...SERVER_OPTIONS.Store, ...MOCK_OPTIONS.Store },
  Simulation: { ...SERVER_OPTIONS.Simulation, ...MOCK_OPTIONS.Simulation },
  Answers: MOCK_OPTIONS.Answers,
  'Control API': APP_OPTIONS['Control API'],
} satisfies OptionGroups;

const APP_ROWS = listRows(MOCK_OPTIONS, OBSERVERS, APP_OPTIONS);

/** Options of a mock that is mounted in an Express app. */
export type AppOptions = MockOptions & Observers & OptionsOf<typeof APP_OPTIONS>;

type AllOptions = AppOptions & OptionsOf<typeof SERVER_OPTIONS>;

/** Options that choose the initial store. */
export type StoreChoice = Pick<AllOptions, 'fixture' | 'animals' | 'orders'>;

type Without<Names extends PropertyKey> = { readonly [Name in Names]?: undefined };

/** How to start a server. Defaults are those of the flags with the same names. */
export type BaseOptions = Omit<AllOptions, keyof StoreChoice> &
  (
    | (Pick<AllOptions, 'fixture'> & Without<'animals' | 'orders'>)
    | (Pick<AllOptions, 'animals' | 'orders'> & Without<'fixture'>)
  );

function listRowsOfServer(features: readonly AddedOptions[]) {
  const added = features.map(({ options = {} }) => options);
  return { ...APP_ROWS, ...listRows(SERVER_OPTIONS, ...added) };
}

/** The names of all options, including those that only code can give. */
export function listOptionNames(features: readonly AddedOptions[]): readonly string[] {
  return Object.keys(listRowsOfServer(features));
}

/** Settings that servers must have in common to share sandboxes, besides their start. */
export function listAgreed(options: object, features: readonly AddedOptions[]) {
  const ofMock = listRows(MOCK_OPTIONS);
  const rows = Object.entries(listRowsOfServer(features));
  const agreed = rows.filter(([name, { agrees }]) => agrees || name in ofMock);
  return agreed.map(([name]) => {
    const given: unknown = Reflect.get(options, name);
    const byDefault: unknown = Reflect.get(DEFAULTS, name);
    return [name, byDefault === undefined ? withoutDefaults(given) : (given ?? byDefault)];
  });
}

/** Removes what equals a default: 0, false, and an object whose members all do. */
function withoutDefaults(given: unknown): unknown {
  if (given instanceof URL) return given.href;
  if (!isObject(given) || given instanceof Map) return given || undefined;
  const members = Object.entries(given).map(([name, value]) => [name, withoutDefaults(value)]);
  const others = members.filter(([, value]) => value !== undefined);
  return others.length === 0 ? undefined : Object.fromEntries(others);
}

/** @throws RangeError that names the first wrong option */
export function checkOptions(
  options: object,
  features: readonly AddedOptions[],
  nameOf?: (name: string) => string,
): asserts options is BaseOptions {
  checkOptionsOf(listRowsOfServer(features), options, nameOf);
}

/** The same for `createApp`, which does not listen. */
export function checkAppOptions(options: object): asserts options is AppOptions {
  checkOptionsOf(APP_ROWS, options);
}
