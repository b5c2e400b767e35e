import type { CommandName } from './commands.ts';

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
    | 'Output'
    | 'Other';
  readonly commands: readonly CommandName[];
  readonly elsewhere: readonly Elsewhere[];
}

const ANYWHERE = ['environment', 'config'] as const;
const EVERY_COMMAND = [
  'serve',
  'assumptions',
  'scenarios',
  'validate',
  'openapi',
  'generate',
  'health',
] as const;
const MOST_RECORDS = 10_000_000;
const MOST_EXCHANGES = 1_000_000;
const MOST_SANDBOXES = 1_000_000;

/** Every flag. What yargs, the environment, config files and the help know of them is made of it. */
export const FLAGS = {
  port: {
    type: 'integer',
    value: 'N',
    range: [0, 65_535],
    default: 4010,
    description: 'Port to listen on; 0 takes any free one.',
    group: 'Address',
    commands: ['serve', 'health'],
    elsewhere: ANYWHERE,
  },
  host: {
    type: 'text',
    value: 'NAME',
    default: '127.0.0.1',
    description: 'Address to listen on; a container needs 0.0.0.0.',
    group: 'Address',
    commands: ['serve', 'health'],
    elsewhere: ANYWHERE,
  },
  fixture: {
    type: 'text',
    value: 'FILE',
    default: 'default',
    description: 'JSON file to start from, or the name of one that ships.',
    group: 'Store',
    commands: ['serve'],
    elsewhere: ANYWHERE,
  },
  animals: {
    type: 'integer',
    value: 'N',
    range: [0, MOST_RECORDS],
    description: 'Generate so many animals in place of a fixture.',
    group: 'Store',
    commands: ['serve', 'generate'],
    elsewhere: ANYWHERE,
  },
  orders: {
    type: 'integer',
    value: 'N',
    range: [0, MOST_RECORDS],
    description: 'Generate so many orders in place of a fixture.',
    group: 'Store',
    commands: ['serve', 'generate'],
    elsewhere: ANYWHERE,
  },
  seed: {
    type: 'integer',
    value: 'N',
    range: [-(2 ** 31), 2 ** 31 - 1],
    default: 1,
    description: 'Decides everything drawn: same seed, same store.',
    group: 'Store',
    commands: ['serve', 'generate'],
    elsewhere: ANYWHERE,
  },
  db: {
    type: 'text',
    value: 'FILE',
    description: 'Keep the store in this file, through restarts.',
    group: 'Store',
    commands: ['serve'],
    elsewhere: ANYWHERE,
  },
  watch: {
    type: 'switch',
    description: 'Start anew when the fixture or a scenario changes.',
    group: 'Store',
    commands: ['serve'],
    elsewhere: ANYWHERE,
  },
  scenario: {
    type: 'list',
    value: 'FILE',
    description: 'Force states and replies: a file, or a name that ships. Repeatable.',
    group: 'Simulation',
    commands: ['serve'],
    elsewhere: ANYWHERE,
  },
  'sandbox-required': {
    type: 'switch',
    description: 'Refuse requests that name no sandbox.',
    group: 'Simulation',
    commands: ['serve'],
    elsewhere: ANYWHERE,
  },
  'max-sandboxes': {
    type: 'integer',
    value: 'N',
    range: [0, MOST_SANDBOXES],
    default: 10_000,
    description: 'Have so many sandboxes at most, then 503.',
    group: 'Simulation',
    commands: ['serve'],
    elsewhere: ANYWHERE,
  },
  journal: {
    type: 'integer',
    value: 'N',
    range: [0, MOST_EXCHANGES],
    default: 1000,
    description: 'Keep so many exchanges in each sandbox.',
    group: 'Simulation',
    commands: ['serve'],
    elsewhere: ANYWHERE,
  },
  assume: {
    type: 'list',
    value: 'ID=OPTION',
    description: 'Answer an open question otherwise. Repeatable.',
    group: 'Answers',
    commands: ['serve', 'assumptions'],
    elsewhere: ANYWHERE,
  },
  'rate-limit': {
    type: 'text',
    value: 'N/s',
    description: 'Let a key make N requests a second (or N/m), then 429.',
    group: 'Answers',
    commands: ['serve', 'assumptions'],
    elsewhere: ANYWHERE,
  },
  clock: {
    type: 'text',
    value: 'INSTANT',
    description: 'Start the clock there, such as at 2030-12-06T00:00:00Z.',
    group: 'Answers',
    commands: ['serve'],
    elsewhere: ANYWHERE,
  },
  freeze: {
    type: 'switch',
    description: 'Stop the clock.',
    group: 'Answers',
    commands: ['serve'],
    elsewhere: ANYWHERE,
  },
  plain: {
    type: 'switch',
    description: 'Leave out what tells the mock from the service.',
    group: 'Answers',
    commands: ['serve'],
    elsewhere: ANYWHERE,
  },
  key: {
    type: 'list',
    value: 'KEY',
    description: 'Take this API key, not demo-key. Repeatable.',
    group: 'Keys',
    commands: ['serve'],
    elsewhere: ANYWHERE,
  },
  'read-only-key': {
    type: 'list',
    value: 'KEY',
    description: 'As read-only, not demo-read-only-key. Repeatable.',
    group: 'Keys',
    commands: ['serve'],
    elsewhere: ANYWHERE,
  },
  'invalid-key': {
    type: 'list',
    value: 'KEY',
    description: 'Refuse this key, whatever else takes it. Repeatable.',
    group: 'Keys',
    commands: ['serve'],
    elsewhere: ANYWHERE,
  },
  'any-key': {
    type: 'switch',
    description: 'Take every key but the refused ones.',
    group: 'Keys',
    commands: ['serve'],
    elsewhere: ANYWHERE,
  },
  'control-token': {
    type: 'text',
    value: 'TOKEN',
    description: 'Ask for this off loopback; without it, one is drawn and printed.',
    group: 'Control API',
    commands: ['serve'],
    elsewhere: ANYWHERE,
  },
  'no-control': {
    type: 'switch',
    description: 'Leave the control API out, but for health.',
    group: 'Control API',
    commands: ['serve'],
    elsewhere: ANYWHERE,
  },
  log: {
    type: 'text',
    value: 'FORMAT',
    description: 'Log exchanges: pretty, json or off. Pretty on a terminal, else json.',
    group: 'Output',
    commands: ['serve'],
    elsewhere: ANYWHERE,
  },
  json: {
    type: 'switch',
    description: 'Print JSON in place of a table.',
    group: 'Output',
    commands: ['assumptions', 'scenarios', 'validate'],
    elsewhere: [],
  },
  'server-url': {
    type: 'text',
    value: 'URL',
    default: 'http://127.0.0.1:4010/v1',
    description: 'Base URL that the document names.',
    group: 'Output',
    commands: ['openapi'],
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
    commands: ['health'],
    elsewhere: [],
  },
  config: {
    type: 'text',
    value: 'FILE',
    description: 'JSON object with flags by their names.',
    group: 'Other',
    commands: ['serve', 'assumptions', 'generate', 'health'],
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

export function flagsOf(command: CommandName): FlagName[] {
  return FLAG_NAMES.filter((name) => flagShape(name).commands.includes(command));
}

/** The flags that can also be given as environment variables, or in a config file. */
export function flagsFrom(place: Elsewhere): FlagName[] {
  return FLAG_NAMES.filter((name) => flagShape(name).elsewhere.includes(place));
}
