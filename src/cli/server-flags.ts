import { DEFAULT_URL } from '../contract/base-url.ts';
import { DEFAULTS } from '../defaults.ts';
import { HOLD_TIME, IDLE_TIME, INSTANT, LONGEST_DELAY } from '../scenario/time-shapes.ts';
import { KEY } from '../shape/shapes.ts';
import { MOST_RECORDS } from '../store/fixture/generate-store.ts';
import {
  ASSUMED,
  type FlagShape,
  flagsOn,
  HTTP_URL,
  RATE,
  REDIS,
  SANDBOX,
  SCENARIO_NAME,
  TOKEN,
} from './flag-shapes.ts';

/** Milliseconds that `health` waits for the reply. */
export const DEFAULT_TIMEOUT = 3000;

/** What `--timeout` is to commands that call a deployment. */
const REPLY_TIMEOUT = `Milliseconds to wait for each reply; by default ${DEFAULTS.deploymentTimeout}.`;

/** The commands that send requests to a deployment. */
export const CALLERS = ['check', 'record'] as const;

/** The commands that start a server. */
export const SERVERS = ['serve', 'exec', 'sweep'] as const;

const ofServe = flagsOn('serve');
const ofServers = flagsOn(...SERVERS);
const ofServersAndHealth = flagsOn(...SERVERS, 'health');
const ofGenerators = flagsOn(...SERVERS, 'generate');
const ofChoosers = flagsOn(...SERVERS, 'assumptions');
const ofKeyHolders = flagsOn(...SERVERS, 'check');
export const ofServeAndExec = flagsOn('serve', 'exec');
export const ofCtl = flagsOn('ctl');

/** The flags of a server and of its clients, under the headings of the help. */
export const SERVER_FLAGS = {
  Address: {
    port: flagsOn('serve', 'exec', 'health').integer(
      'N',
      [0, 65_535],
      'Port to listen on; 0 picks a free one.',
      {
        default: DEFAULTS.port,
        helpOn: {
          exec: 'Port to listen on; a free one by default.',
          health: 'Port of the server.',
        },
      },
    ),
    host: ofServersAndHealth.text('NAME', 'Address to listen on; a container needs 0.0.0.0.', {
      default: DEFAULTS.host,
      helpOn: {
        health: 'Address of the server; for 0.0.0.0 and ::, the loopback address.',
      },
    }),
    tls: ofServersAndHealth.toggle(
      'Serve HTTPS with a certificate made at the start, for localhost and --host.',
      { helpOn: { health: 'Use HTTPS and accept any certificate.' } },
    ),
    tlsCert: ofServers.file('Serve HTTPS with this certificate, in PEM.'),
    tlsKey: ofServers.file('Private key of --tls-cert, in PEM.'),
    tlsWrite: ofServers.file('Write the certificate to this file, for clients to trust.'),
    url: flagsOn('health', 'ctl').one(
      HTTP_URL,
      'URL',
      'Base URL of the server, instead of --host and --port.',
      { helpOn: { ctl: `Server to control; by default ${DEFAULT_URL}.` } },
    ),
    sandbox: ofCtl.one(SANDBOX, 'NAME', 'Sandbox to control instead of the default one.'),
    token: ofCtl.one(TOKEN, 'TOKEN', 'Token of the control API.'),
    ca: ofCtl.file('Trust this certificate, in PEM.'),
    timeout: flagsOn('health', 'exec', 'sweep', ...CALLERS).integer(
      'MS',
      [1, 86_400_000],
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
    fixture: flagsOn(...SERVERS, 'validate').file(
      'JSON file to start from, or the name of a shipped fixture.',
      {
        default: DEFAULTS.fixture,
        ships: true,
        helpOn: {
          validate: 'Check scenarios over this fixture, unless they name another.',
        },
      },
    ),
    animals: ofGenerators.integer(
      'N',
      [0, MOST_RECORDS],
      'Generate this many animals instead of reading a fixture.',
    ),
    orders: ofGenerators.integer(
      'N',
      [0, MOST_RECORDS],
      'Generate this many orders instead of reading a fixture.',
    ),
    seed: ofGenerators.integer(
      'N',
      [-(2 ** 31), 2 ** 31 - 1],
      'Seed of everything random; the same seed gives the same store.',
      { default: DEFAULTS.seed },
    ),
    db: ofServeAndExec.file('Keep the store in this file across restarts.'),
    shared: ofServe.one(
      REDIS,
      'URL',
      'Share every sandbox with the other servers on this Redis, such as redis://127.0.0.1:6379/0.',
    ),
    watch: ofServeAndExec.toggle('Reload when the fixture or a scenario changes on disk.'),
  },
  Simulation: {
    scenarios: ofServers.list(
      SCENARIO_NAME,
      'FILE',
      'Force states and replies: the name of a shipped scenario, or a file. Repeat the flag to combine several; later ones win.',
      { ships: true, spelling: 'scenario' },
    ),
    sandboxRequired: ofServers.toggle('Refuse requests that name no sandbox.'),
    maxSandboxes: ofServers.integer(
      'N',
      [0, 1_000_000],
      'Create at most this many sandboxes; the next one gets 503.',
      { default: DEFAULTS.maxSandboxes },
    ),
    sandboxIdle: ofServers.one(
      IDLE_TIME,
      'DURATION',
      'Remove sandboxes that were idle for this long, such as PT12H; by default none.',
    ),
    journal: ofServers.integer('N', [0, 1_000_000], 'Keep this many exchanges in each sandbox.', {
      default: DEFAULTS.journal,
    }),
  },
  Answers: {
    assume: ofChoosers.words(
      ASSUMED,
      'ID=OPTION',
      'Choose another option of an assumption, as ID=OPTION. Repeatable.',
    ),
    rateLimit: ofChoosers.one(
      RATE,
      'N/s',
      'Allow each key N requests a second (N/s) or a minute (N/m), then answer 429.',
    ),
    delay: ofServers.integer(
      'MS',
      [0, LONGEST_DELAY],
      'Delay replies that no rule decides by this many milliseconds.',
    ),
    maxHold: ofServers.one(HOLD_TIME, 'DURATION', 'Longest hold of a reply; by default PT5M.'),
    clock: ofServers.one(
      INSTANT,
      'INSTANT',
      'Start the clock at this instant, such as 2030-12-06T00:00:00Z.',
    ),
    frozen: flagsOn(...SERVERS, 'ctl').toggle('Stop the clock.', { spelling: 'freeze' }),
    plain: ofServers.toggle(
      'Omit the Mock-Basis header, so that replies look like those of the service.',
    ),
  },
  Keys: {
    key: flagsOn(...SERVERS, ...CALLERS).list(
      KEY,
      'KEY',
      'Accept this API key instead of demo-key. Repeatable.',
      {
        helpOn: {
          check: 'API key of the deployment.',
          record: 'API key of the deployment.',
        },
      },
    ),
    readOnlyKey: ofKeyHolders.list(
      KEY,
      'KEY',
      'Accept this read-only key instead of demo-read-only-key. Repeatable.',
      { helpOn: { check: 'Read-only key of the deployment.' } },
    ),
    invalidKey: ofKeyHolders.list(
      KEY,
      'KEY',
      'Refuse this key, even if another flag accepts it. Repeatable.',
      { helpOn: { check: 'Key that the deployment refuses.' } },
    ),
    anyKey: ofServers.toggle('Accept every key that is not listed as invalid.'),
  },
  'Control API': {
    controlToken: ofServers.one(
      TOKEN,
      'TOKEN',
      'Token that the control API requires unless the host is loopback; by default one is generated and printed.',
    ),
    metrics: ofServe.toggle(
      'Count exchanges for /__mock/metrics from the start, not from the first read on.',
    ),
    noControl: ofServers.toggle(
      'Turn the control API off, except for its health check and the certificate of --tls.',
    ),
  },
} satisfies Record<string, Record<string, FlagShape>>;
