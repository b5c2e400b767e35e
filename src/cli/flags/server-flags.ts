import { DEFAULTS } from '../../defaults.ts';
import { LONGEST_DELAY } from '../../scenario/scenario.ts';
import { MOST_RECORDS } from '../../store/fixture/generate-store.ts';
import { type FlagShape, SERVERS } from './flag-shape.ts';

const MOST_EXCHANGES = 1_000_000;
const MOST_SANDBOXES = 1_000_000;

/** The flags that a server is started with. */
export const SERVER_FLAGS = {
  port: {
    type: 'integer',
    value: 'N',
    range: [0, 65_535],
    default: DEFAULTS.port,
    description: 'Port to listen on; 0 picks a free one.',
    group: 'Address',
    commands: ['serve', 'exec', 'health'],
    helpOn: {
      exec: { value: 'N', description: 'Port to listen on; a free one by default.' },
      health: { value: 'N', description: 'Port of the server.' },
    },
  },
  host: {
    type: 'text',
    value: 'NAME',
    default: DEFAULTS.host,
    description: 'Address to listen on; a container needs 0.0.0.0.',
    group: 'Address',
    commands: [...SERVERS, 'health'],
    helpOn: {
      health: {
        value: 'NAME',
        description: 'Address that the server listens on; 0.0.0.0 and :: are asked at loopback.',
      },
    },
  },
  fixture: {
    type: 'text',
    value: 'FILE',
    default: DEFAULTS.fixture,
    description: 'JSON file to start from, or the name of a shipped fixture.',
    group: 'Store',
    commands: SERVERS,
  },
  animals: {
    type: 'integer',
    value: 'N',
    range: [0, MOST_RECORDS],
    description: 'Generate this many animals instead of reading a fixture.',
    group: 'Store',
    commands: [...SERVERS, 'generate'],
  },
  orders: {
    type: 'integer',
    value: 'N',
    range: [0, MOST_RECORDS],
    description: 'Generate this many orders instead of reading a fixture.',
    group: 'Store',
    commands: [...SERVERS, 'generate'],
  },
  seed: {
    type: 'integer',
    value: 'N',
    range: [-(2 ** 31), 2 ** 31 - 1],
    default: DEFAULTS.seed,
    description: 'Seed of everything random; the same seed gives the same store.',
    group: 'Store',
    commands: [...SERVERS, 'generate'],
  },
  db: {
    type: 'text',
    value: 'FILE',
    description: 'Keep the store in this file across restarts.',
    group: 'Store',
    commands: ['serve', 'exec'],
  },
  watch: {
    type: 'switch',
    description: 'Reload when the fixture or a scenario changes on disk.',
    group: 'Store',
    commands: ['serve', 'exec'],
  },
  scenario: {
    type: 'list',
    value: 'FILE',
    description:
      'Force states and replies: the name of a shipped scenario, or a file. Repeat the flag to combine several; later ones win.',
    group: 'Simulation',
    commands: SERVERS,
  },
  'sandbox-required': {
    type: 'switch',
    description: 'Refuse requests that name no sandbox.',
    group: 'Simulation',
    commands: SERVERS,
  },
  'max-sandboxes': {
    type: 'integer',
    value: 'N',
    range: [0, MOST_SANDBOXES],
    default: DEFAULTS.maxSandboxes,
    description: 'Create at most this many sandboxes; the next one gets 503.',
    group: 'Simulation',
    commands: SERVERS,
  },
  journal: {
    type: 'integer',
    value: 'N',
    range: [0, MOST_EXCHANGES],
    default: DEFAULTS.journal,
    description: 'Keep this many exchanges in each sandbox.',
    group: 'Simulation',
    commands: SERVERS,
  },
  assume: {
    type: 'list',
    value: 'ID=OPTION',
    description: 'Choose another option of an assumption, as ID=OPTION. Repeatable.',
    group: 'Answers',
    commands: [...SERVERS, 'assumptions'],
  },
  'rate-limit': {
    type: 'text',
    value: 'N/s',
    description: 'Allow each key N requests a second (or N/m), then answer 429.',
    group: 'Answers',
    commands: [...SERVERS, 'assumptions'],
  },
  delay: {
    type: 'integer',
    value: 'MS',
    range: [0, LONGEST_DELAY],
    description: 'Delay replies that no rule decides by this many milliseconds.',
    group: 'Answers',
    commands: SERVERS,
  },
  clock: {
    type: 'text',
    value: 'INSTANT',
    description: 'Start the clock at this instant, such as 2030-12-06T00:00:00Z.',
    group: 'Answers',
    commands: SERVERS,
  },
  freeze: {
    type: 'switch',
    description: 'Stop the clock.',
    group: 'Answers',
    commands: SERVERS,
  },
  plain: {
    type: 'switch',
    description: 'Omit the Mock-Basis header, so that replies look like those of the service.',
    group: 'Answers',
    commands: SERVERS,
  },
  key: {
    type: 'list',
    value: 'KEY',
    description: 'Accept this API key instead of demo-key. Repeatable.',
    group: 'Keys',
    commands: SERVERS,
  },
  'read-only-key': {
    type: 'list',
    value: 'KEY',
    description: 'Accept this read-only key instead of demo-read-only-key. Repeatable.',
    group: 'Keys',
    commands: SERVERS,
  },
  'invalid-key': {
    type: 'list',
    value: 'KEY',
    description: 'Refuse this key, even if another flag accepts it. Repeatable.',
    group: 'Keys',
    commands: SERVERS,
  },
  'any-key': {
    type: 'switch',
    description: 'Accept every key that is not listed as invalid.',
    group: 'Keys',
    commands: SERVERS,
  },
  'control-token': {
    type: 'text',
    value: 'TOKEN',
    description:
      'Token that the control API requires unless the host is loopback; by default one is generated and printed.',
    group: 'Control API',
    commands: SERVERS,
  },
  'no-control': {
    type: 'switch',
    description: 'Turn the control API off, except for its health check.',
    group: 'Control API',
    commands: SERVERS,
  },
  log: {
    type: 'text',
    value: 'FORMAT',
    description: 'Log format: pretty, json or off. Default: pretty on a terminal, else json.',
    group: 'Output',
    commands: ['serve', 'exec'],
    helpOn: {
      exec: { value: 'FORMAT', description: 'Log to standard error, as pretty or json.' },
    },
  },
  coverage: {
    type: 'list',
    value: 'FILE',
    description:
      'Write coverage to this file at exit: .json, .html, .xml (JUnit) or .info (lcov). Repeatable.',
    group: 'Evidence',
    commands: ['serve', 'exec'],
  },
} as const satisfies Record<string, FlagShape>;
