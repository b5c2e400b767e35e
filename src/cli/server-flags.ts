import { DEFAULT_URL } from '../contract/base-url.ts';
import { DEFAULTS } from '../defaults.ts';
import { HOLD_TIME, IDLE_TIME, INSTANT, LONGEST_DELAY } from '../scenario/time-shapes.ts';
import { KEY } from '../shape/deployment-shapes.ts';
import { MOST_RECORDS } from '../store/fixture/generate-store.ts';
import {
  ASSUMED,
  type FlagShape,
  HTTP_URL,
  integer,
  list,
  one,
  RATE,
  REDIS,
  SANDBOX,
  SCENARIO_NAME,
  TOKEN,
  text,
  toggle,
  words,
} from './flag-shapes.ts';

/** Milliseconds that `health` waits for the reply. */
export const DEFAULT_TIMEOUT = 3000;

/** What `--timeout` is to commands that call a deployment. */
const REPLY_TIMEOUT = `Milliseconds to wait for each reply; by default ${DEFAULTS.deploymentTimeout}.`;

/** The commands that send requests to a deployment. */
export const CALLERS = ['check', 'record'] as const;

/** The commands that start a server. */
export const SERVERS = ['serve', 'exec', 'sweep'] as const;

/** The flags of a server and of its clients, under the headings of the help. */
export const SERVER_FLAGS = {
  Address: {
    port: integer(
      'N',
      [0, 65_535],
      ['serve', 'exec', 'health'],
      'Port to listen on; 0 picks a free one.',
      {
        default: DEFAULTS.port,
        helpOn: {
          exec: 'Port to listen on; a free one by default.',
          health: 'Port of the server.',
        },
      },
    ),
    host: text('NAME', [...SERVERS, 'health'], 'Address to listen on; a container needs 0.0.0.0.', {
      default: DEFAULTS.host,
      helpOn: {
        health: 'Address of the server; for 0.0.0.0 and ::, the loopback address.',
      },
    }),
    tls: toggle(
      [...SERVERS, 'health'],
      'Serve HTTPS with a certificate made at the start, for localhost and --host.',
      { helpOn: { health: 'Use HTTPS and accept any certificate.' } },
    ),
    tlsCert: text('FILE', SERVERS, 'Serve HTTPS with this certificate, in PEM.'),
    tlsKey: text('FILE', SERVERS, 'Private key of --tls-cert, in PEM.'),
    tlsWrite: text('FILE', SERVERS, 'Write the certificate to this file, for clients to trust.'),
    url: one(
      HTTP_URL,
      'URL',
      ['health', 'ctl'],
      'Base URL of the server, instead of --host and --port.',
      { helpOn: { ctl: `Server to control; by default ${DEFAULT_URL}.` } },
    ),
    sandbox: one(SANDBOX, 'NAME', ['ctl'], 'Sandbox to control instead of the default one.'),
    token: one(TOKEN, 'TOKEN', ['ctl'], 'Token of the control API.'),
    ca: text('FILE', ['ctl'], 'Trust this certificate, in PEM.'),
    timeout: integer(
      'MS',
      [1, 86_400_000],
      ['health', 'exec', 'sweep', ...CALLERS],
      'Milliseconds to wait for the reply.',
      {
        default: DEFAULT_TIMEOUT,
        helpOn: {
          check: REPLY_TIMEOUT,
          record: REPLY_TIMEOUT,
          exec: 'End the command after this many milliseconds.',
          sweep: 'End a run after this many milliseconds; it counts as failed.',
        },
      },
    ),
  },
  Store: {
    fixture: text(
      'FILE',
      [...SERVERS, 'validate'],
      'JSON file to start from, or the name of a shipped fixture.',
      {
        default: DEFAULTS.fixture,
        ships: true,
        helpOn: {
          validate: 'Check scenarios over this fixture, unless they name another.',
        },
      },
    ),
    animals: integer(
      'N',
      [0, MOST_RECORDS],
      [...SERVERS, 'generate'],
      'Generate this many animals instead of reading a fixture.',
    ),
    orders: integer(
      'N',
      [0, MOST_RECORDS],
      [...SERVERS, 'generate'],
      'Generate this many orders instead of reading a fixture.',
    ),
    seed: integer(
      'N',
      [-(2 ** 31), 2 ** 31 - 1],
      [...SERVERS, 'generate'],
      'Seed of everything random; the same seed gives the same store.',
      { default: DEFAULTS.seed },
    ),
    db: text('FILE', ['serve', 'exec'], 'Keep the store in this file across restarts.'),
    shared: one(
      REDIS,
      'URL',
      ['serve'],
      'Share every sandbox with the other servers on this Redis, such as redis://127.0.0.1:6379/0.',
    ),
    watch: toggle(['serve', 'exec'], 'Reload when the fixture or a scenario changes on disk.'),
  },
  Simulation: {
    scenarios: list(
      SCENARIO_NAME,
      'FILE',
      SERVERS,
      'Force states and replies: the name of a shipped scenario, or a file. Repeat the flag to combine several; later ones win.',
      { ships: true, spelling: 'scenario' },
    ),
    sandboxRequired: toggle(SERVERS, 'Refuse requests that name no sandbox.'),
    maxSandboxes: integer(
      'N',
      [0, 1_000_000],
      SERVERS,
      'Create at most this many sandboxes; the next one gets 503.',
      { default: DEFAULTS.maxSandboxes },
    ),
    sandboxIdle: one(
      IDLE_TIME,
      'DURATION',
      SERVERS,
      'Remove sandboxes that were idle for this long, such as PT12H; by default none.',
    ),
    journal: integer('N', [0, 1_000_000], SERVERS, 'Keep this many exchanges in each sandbox.', {
      default: DEFAULTS.journal,
    }),
  },
  Answers: {
    assume: words(
      ASSUMED,
      'ID=OPTION',
      [...SERVERS, 'assumptions'],
      'Choose another option of an assumption, as ID=OPTION. Repeatable.',
    ),
    rateLimit: one(
      RATE,
      'N/s',
      [...SERVERS, 'assumptions'],
      'Allow each key N requests a second (N/s) or a minute (N/m), then answer 429.',
    ),
    delay: integer(
      'MS',
      [0, LONGEST_DELAY],
      SERVERS,
      'Delay replies that no rule decides by this many milliseconds.',
    ),
    maxHold: one(HOLD_TIME, 'DURATION', SERVERS, 'Longest hold of a reply; by default PT5M.'),
    clock: one(
      INSTANT,
      'INSTANT',
      SERVERS,
      'Start the clock at this instant, such as 2030-12-06T00:00:00Z.',
    ),
    frozen: toggle([...SERVERS, 'ctl'], 'Stop the clock.', { spelling: 'freeze' }),
    plain: toggle(
      SERVERS,
      'Omit the Mock-Basis header, so that replies look like those of the service.',
    ),
  },
  Keys: {
    key: list(
      KEY,
      'KEY',
      [...SERVERS, ...CALLERS],
      'Accept this API key instead of demo-key. Repeatable.',
      {
        helpOn: {
          check: 'API key of the deployment.',
          record: 'API key of the deployment.',
        },
      },
    ),
    readOnlyKey: list(
      KEY,
      'KEY',
      [...SERVERS, 'check'],
      'Accept this read-only key instead of demo-read-only-key. Repeatable.',
      { helpOn: { check: 'Read-only key of the deployment.' } },
    ),
    invalidKey: list(
      KEY,
      'KEY',
      [...SERVERS, 'check'],
      'Refuse this key, even if another flag accepts it. Repeatable.',
      { helpOn: { check: 'Key that the deployment refuses.' } },
    ),
    anyKey: toggle(SERVERS, 'Accept every key that is not listed as invalid.'),
  },
  'Control API': {
    controlToken: one(
      TOKEN,
      'TOKEN',
      SERVERS,
      'Token that the control API requires unless the host is loopback; by default one is generated and printed.',
    ),
    metrics: toggle(
      ['serve'],
      'Count exchanges for /__mock/metrics from the start, not from the first read on.',
    ),
    noControl: toggle(
      SERVERS,
      'Turn the control API off, except for its health check and the certificate of --tls.',
    ),
  },
} satisfies Record<string, Record<string, FlagShape>>;
