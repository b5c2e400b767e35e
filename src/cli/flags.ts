import { DEFAULT_URL } from '../contract/default-url.ts';
import { DEFAULTS } from '../defaults.ts';
import { LONGEST_DELAY } from '../scenario/scenario.ts';
import { MOST_RECORDS } from '../store/fixture/generate-store.ts';
import type { CommandName } from './command-table.ts';

/** Where a flag can be given, beside the command line. */
type Elsewhere = 'environment' | 'config';

interface FlagShape {
  /** A list can be given more than once. A switch takes no value. */
  readonly type: 'text' | 'integer' | 'list' | 'switch';
  /** What the help writes for the value. */
  readonly value?: string;
  /** Both ends included; of an integer. */
  readonly range?: readonly [number, number];
  readonly default?: string | number;
  /** A letter that can stand for the name. */
  readonly alias?: string;
  /** A line of the help, which adds the default. */
  readonly description: string;
  readonly group:
    | 'Address'
    | 'Store'
    | 'Simulation'
    | 'Answers'
    | 'Keys'
    | 'Control API'
    | 'Evidence'
    | 'Output'
    | 'Other';
  readonly commands: readonly CommandName[];
  /** What the help says instead for a command to which the flag means something else. */
  readonly helpOn?: Partial<
    Record<CommandName, { readonly value: string; readonly description: string }>
  >;
  readonly elsewhere: readonly Elsewhere[];
}

const ANYWHERE = ['environment', 'config'] as const;
const SERVERS = ['serve', 'exec', 'sweep'] as const;
const EVERY_COMMAND = [
  ...SERVERS,
  'assumptions',
  'responses',
  'scenarios',
  'validate',
  'openapi',
  'generate',
  'health',
] as const;
const MOST_JOBS = 1000;
const MOST_EXCHANGES = 1_000_000;
const MOST_SANDBOXES = 1_000_000;

/** Every flag. What the command line, the environment, config files and the help know is made of it. */
export const FLAGS = {
  port: {
    type: 'integer',
    value: 'N',
    range: [0, 65_535],
    default: DEFAULTS.port,
    description: 'Port to listen on; 0 takes any free one.',
    group: 'Address',
    commands: ['serve', 'exec', 'health'],
    helpOn: {
      exec: { value: 'N', description: 'Port to listen on; any free one where it is left out.' },
    },
    elsewhere: ANYWHERE,
  },
  host: {
    type: 'text',
    value: 'NAME',
    default: DEFAULTS.host,
    description: 'Address to listen on; a container needs 0.0.0.0.',
    group: 'Address',
    commands: [...SERVERS, 'health'],
    elsewhere: ANYWHERE,
  },
  fixture: {
    type: 'text',
    value: 'FILE',
    default: DEFAULTS.fixture,
    description: 'JSON file to start from, or the name of one that ships.',
    group: 'Store',
    commands: SERVERS,
    elsewhere: ANYWHERE,
  },
  animals: {
    type: 'integer',
    value: 'N',
    range: [0, MOST_RECORDS],
    description: 'Generate so many animals in place of a fixture.',
    group: 'Store',
    commands: [...SERVERS, 'generate'],
    elsewhere: ANYWHERE,
  },
  orders: {
    type: 'integer',
    value: 'N',
    range: [0, MOST_RECORDS],
    description: 'Generate so many orders in place of a fixture.',
    group: 'Store',
    commands: [...SERVERS, 'generate'],
    elsewhere: ANYWHERE,
  },
  seed: {
    type: 'integer',
    value: 'N',
    range: [-(2 ** 31), 2 ** 31 - 1],
    default: DEFAULTS.seed,
    description: 'Decides everything drawn: same seed, same store.',
    group: 'Store',
    commands: [...SERVERS, 'generate'],
    elsewhere: ANYWHERE,
  },
  db: {
    type: 'text',
    value: 'FILE',
    description: 'Keep the store in this file, through restarts.',
    group: 'Store',
    commands: ['serve', 'exec'],
    elsewhere: ANYWHERE,
  },
  watch: {
    type: 'switch',
    description: 'Start anew when the fixture or a scenario changes.',
    group: 'Store',
    commands: ['serve', 'exec'],
    elsewhere: ANYWHERE,
  },
  scenario: {
    type: 'list',
    value: 'FILE',
    description: 'Force states and replies: a file, or a name that ships. Repeatable.',
    group: 'Simulation',
    commands: SERVERS,
    elsewhere: ANYWHERE,
  },
  'sandbox-required': {
    type: 'switch',
    description: 'Refuse requests that name no sandbox.',
    group: 'Simulation',
    commands: SERVERS,
    elsewhere: ANYWHERE,
  },
  'max-sandboxes': {
    type: 'integer',
    value: 'N',
    range: [0, MOST_SANDBOXES],
    default: DEFAULTS.maxSandboxes,
    description: 'Have so many sandboxes at most, then 503.',
    group: 'Simulation',
    commands: SERVERS,
    elsewhere: ANYWHERE,
  },
  journal: {
    type: 'integer',
    value: 'N',
    range: [0, MOST_EXCHANGES],
    default: DEFAULTS.journal,
    description: 'Keep so many exchanges in each sandbox.',
    group: 'Simulation',
    commands: SERVERS,
    elsewhere: ANYWHERE,
  },
  assume: {
    type: 'list',
    value: 'ID=OPTION',
    description: 'Answer an open question otherwise. Repeatable.',
    group: 'Answers',
    commands: [...SERVERS, 'assumptions'],
    elsewhere: ANYWHERE,
  },
  'rate-limit': {
    type: 'text',
    value: 'N/s',
    description: 'Let a key make N requests a second (or N/m), then 429.',
    group: 'Answers',
    commands: [...SERVERS, 'assumptions'],
    elsewhere: ANYWHERE,
  },
  delay: {
    type: 'integer',
    value: 'MS',
    range: [0, LONGEST_DELAY],
    description: 'Hold every reply back so many milliseconds that no rule decides.',
    group: 'Answers',
    commands: SERVERS,
    elsewhere: ANYWHERE,
  },
  clock: {
    type: 'text',
    value: 'INSTANT',
    description: 'Start the clock there, such as at 2030-12-06T00:00:00Z.',
    group: 'Answers',
    commands: SERVERS,
    elsewhere: ANYWHERE,
  },
  freeze: {
    type: 'switch',
    description: 'Stop the clock.',
    group: 'Answers',
    commands: SERVERS,
    elsewhere: ANYWHERE,
  },
  plain: {
    type: 'switch',
    description: 'Leave out what tells the mock from the service.',
    group: 'Answers',
    commands: SERVERS,
    elsewhere: ANYWHERE,
  },
  key: {
    type: 'list',
    value: 'KEY',
    description: 'Take this API key, not demo-key. Repeatable.',
    group: 'Keys',
    commands: SERVERS,
    elsewhere: ANYWHERE,
  },
  'read-only-key': {
    type: 'list',
    value: 'KEY',
    description: 'As read-only, not demo-read-only-key. Repeatable.',
    group: 'Keys',
    commands: SERVERS,
    elsewhere: ANYWHERE,
  },
  'invalid-key': {
    type: 'list',
    value: 'KEY',
    description: 'Refuse this key, whatever else takes it. Repeatable.',
    group: 'Keys',
    commands: SERVERS,
    elsewhere: ANYWHERE,
  },
  'any-key': {
    type: 'switch',
    description: 'Take every key but the refused ones.',
    group: 'Keys',
    commands: SERVERS,
    elsewhere: ANYWHERE,
  },
  'control-token': {
    type: 'text',
    value: 'TOKEN',
    description: 'Ask for this off loopback; without it, one is drawn and printed.',
    group: 'Control API',
    commands: SERVERS,
    elsewhere: ANYWHERE,
  },
  'no-control': {
    type: 'switch',
    description: 'Leave the control API out, but for health.',
    group: 'Control API',
    commands: SERVERS,
    elsewhere: ANYWHERE,
  },
  log: {
    type: 'text',
    value: 'FORMAT',
    description: 'Log exchanges: pretty, json or off. Pretty on a terminal, else json.',
    group: 'Output',
    commands: ['serve', 'exec'],
    helpOn: {
      exec: { value: 'FORMAT', description: 'Log exchanges to standard error: pretty or json.' },
    },
    elsewhere: ANYWHERE,
  },
  coverage: {
    type: 'list',
    value: 'FILE',
    description:
      'Write at the end what clients were shown: .json, .html, .xml (JUnit), .info (lcov). Repeatable.',
    group: 'Evidence',
    commands: ['serve', 'exec'],
    elsewhere: ANYWHERE,
  },
  'require-coverage': {
    type: 'text',
    value: 'N%',
    description: 'Exit with 3 where fewer documented replies were shown; documented is all.',
    group: 'Evidence',
    commands: ['exec'],
    elsewhere: [],
  },
  'fail-on': {
    type: 'list',
    value: 'KINDS',
    description:
      'Exit with 3 on these findings, with commas; assumed is any assumed reply. Repeatable.',
    group: 'Evidence',
    commands: ['exec'],
    elsewhere: [],
  },
  jobs: {
    type: 'integer',
    value: 'N',
    range: [1, MOST_JOBS],
    description: 'Run so many at a time; as many as there are processors, where it is left out.',
    group: 'Evidence',
    commands: ['sweep'],
    elsewhere: [],
  },
  all: {
    type: 'switch',
    description: 'Run also the assumptions that the command did not touch.',
    group: 'Evidence',
    commands: ['sweep'],
    elsewhere: [],
  },
  allow: {
    type: 'list',
    value: 'ID=OPTION',
    description: 'Known to fail, and no reason to exit with 3. Repeatable.',
    group: 'Evidence',
    commands: ['sweep'],
    elsewhere: [],
  },
  junit: {
    type: 'text',
    value: 'FILE',
    description: 'Write the result as JUnit XML too.',
    group: 'Evidence',
    commands: ['sweep'],
    elsewhere: [],
  },
  html: {
    type: 'text',
    value: 'FILE',
    description: 'Write the result as a page too.',
    group: 'Evidence',
    commands: ['sweep'],
    elsewhere: [],
  },
  json: {
    type: 'switch',
    description: 'Print JSON in place of a table.',
    group: 'Output',
    commands: ['assumptions', 'responses', 'scenarios', 'validate', 'sweep'],
    elsewhere: [],
  },
  curl: {
    type: 'switch',
    description: 'Print curl lines to copy.',
    group: 'Output',
    commands: ['responses'],
    elsewhere: [],
  },
  check: {
    type: 'switch',
    description: 'Get each reply from a server of its own; exit with 1 if one does not come.',
    group: 'Output',
    commands: ['responses'],
    elsewhere: [],
  },
  http: {
    type: 'text',
    value: 'FILE',
    description: 'Write the requests as an .http file.',
    group: 'Output',
    commands: ['responses'],
    elsewhere: [],
  },
  postman: {
    type: 'text',
    value: 'FILE',
    description: 'Write the requests as a Postman 2.1 collection.',
    group: 'Output',
    commands: ['responses'],
    elsewhere: [],
  },
  'server-url': {
    type: 'text',
    value: 'URL',
    default: DEFAULT_URL,
    description: 'Base URL of the service, as it is written out.',
    group: 'Output',
    commands: ['openapi', 'responses'],
    elsewhere: [],
  },
  output: {
    type: 'text',
    value: 'FILE',
    description: 'Write to this file; to standard output where it is left out.',
    group: 'Output',
    commands: ['generate'],
    elsewhere: [],
  },
  force: {
    type: 'switch',
    description: 'Write over a file that exists.',
    group: 'Output',
    commands: ['generate'],
    elsewhere: [],
  },
  url: {
    type: 'text',
    value: 'URL',
    description: 'Server to ask, in place of the one that --host and --port name.',
    group: 'Address',
    commands: ['health'],
    elsewhere: [],
  },
  timeout: {
    type: 'integer',
    value: 'MS',
    range: [1, 600_000],
    default: 3000,
    description: 'Milliseconds to wait for the reply.',
    group: 'Address',
    commands: ['health', 'exec', 'sweep'],
    helpOn: {
      exec: { value: 'SECONDS', description: 'End the command when it takes longer.' },
      sweep: { value: 'SECONDS', description: 'End a run that takes longer. It has failed.' },
    },
    elsewhere: [],
  },
  config: {
    type: 'text',
    value: 'FILE',
    description: 'JSON object with flags by their names.',
    group: 'Other',
    commands: [...SERVERS, 'assumptions', 'generate', 'health'],
    elsewhere: ['environment'],
  },
  help: {
    type: 'switch',
    alias: 'h',
    description: 'Show this.',
    group: 'Other',
    commands: EVERY_COMMAND,
    elsewhere: [],
  },
  version: {
    type: 'switch',
    alias: 'v',
    description: 'Show the version.',
    group: 'Other',
    commands: EVERY_COMMAND,
    elsewhere: [],
  },
} as const satisfies Record<string, FlagShape>;

export type FlagName = keyof typeof FLAGS;

/** The flags of a type, so that none is read as what it is not. */
export type FlagOf<Type extends FlagShape['type']> = {
  [Name in FlagName]: (typeof FLAGS)[Name]['type'] extends Type ? Name : never;
}[FlagName];

export const FLAG_NAMES = Object.keys(FLAGS).filter(isFlagName);

export function isFlagName(name: string): name is FlagName {
  return Object.hasOwn(FLAGS, name);
}

/** The same table seen through its general shape, for code that treats all flags alike. */
export function flagShape(name: FlagName): FlagShape {
  return FLAGS[name];
}

/** What the help of a command says of a flag. */
export function flagHelp(name: FlagName, command: CommandName): Omit<FlagShape, 'helpOn'> {
  const { helpOn, ...shape } = flagShape(name);
  const own = helpOn?.[command];
  if (own === undefined) return shape;
  const { default: _ofOthers, ...rest } = shape;
  return { ...rest, ...own };
}

export function flagsOf(command: CommandName): FlagName[] {
  return FLAG_NAMES.filter((name) => flagShape(name).commands.includes(command));
}

/** The flags that can also be given as environment variables, or in a config file. */
export function flagsFrom(place: Elsewhere): FlagName[] {
  return FLAG_NAMES.filter((name) => flagShape(name).elsewhere.includes(place));
}
