import { DEFAULT_URL } from '../contract/base-url.ts';
import { ORDER_STATUSES } from '../contract/records.ts';
import { DEFAULTS } from '../defaults.ts';
import { KEEPABLE } from '../sandbox/state.ts';
import { HOLD_TIME, IDLE_TIME, INSTANT, LONGEST_DELAY } from '../scenario/time-shapes.ts';
import type { Member } from '../shape/objects.ts';
import { BASE_URL, choice, KEY, text } from '../shape/shapes.ts';
import { joinWords } from '../words.ts';
import { COMMAND_NAMES, type CommandName } from './command-table.ts';
import {
  ALLOWED,
  ASSUMED,
  count,
  FAIL_ON,
  FAILING_KINDS,
  FILE,
  type FlagValue,
  HTTP_URL,
  KEPT,
  KEYS,
  MANY,
  milliseconds,
  ORDER_IDS,
  OUTPUT,
  one,
  RATE,
  REDIS,
  REPORT_FILES,
  SANDBOX,
  SCENARIOS,
  SERVER_URL,
  SHARE,
  SWITCH,
  TOKEN,
} from './flag-values.ts';

/** A row of the table. The description is one line of the help. */
export interface FlagShape extends FlagValue, Member<unknown, false> {
  readonly commands: readonly CommandName[];
  /** One letter. */
  readonly alias?: string;
}

/** Returns a function that makes the row of a flag of these commands. */
function flagsOn(...commands: readonly CommandName[]) {
  return <T>(value: FlagValue<T>, description: string) => {
    const repeats = value.type === 'list' || value.type === 'words' ? ' Repeatable.' : '';
    return { ...value, description: description + repeats, commands, required: false as const };
  };
}

/** The commands that start a server, that call a deployment, and that list or check files. */
const SERVERS = ['serve', 'exec', 'sweep'] as const;
const CALLERS = ['check', 'record'] as const;
const LISTERS = ['assumptions', 'responses', 'scenarios', 'validate'] as const;

const ofServe = flagsOn('serve');
const ofExec = flagsOn('exec');
const ofServeAndExec = flagsOn('serve', 'exec');
const ofServeExecAndHealth = flagsOn('serve', 'exec', 'health');
const ofServers = flagsOn(...SERVERS);
const ofServersAndHealth = flagsOn(...SERVERS, 'health');
const ofServersAndCheck = flagsOn(...SERVERS, 'check');
const ofChoosers = flagsOn(...SERVERS, 'assumptions');
const ofGenerators = flagsOn(...SERVERS, 'generate');
const ofConfigurable = flagsOn(...SERVERS, 'assumptions', 'generate', 'health');
const ofSweep = flagsOn('sweep');
const ofCheck = flagsOn('check');
const ofRecord = flagsOn('record');
const ofCallers = flagsOn(...CALLERS);
const ofForwarders = flagsOn('serve', 'exec', ...CALLERS);
const ofTimed = flagsOn('health', 'exec', 'sweep', ...CALLERS);
const ofReporters = flagsOn('sweep', 'check');
const ofRecorders = flagsOn('generate', 'record');
const ofResponses = flagsOn('responses');
const ofPrinters = flagsOn(...LISTERS, 'sweep', 'ctl', ...CALLERS);
const ofCtl = flagsOn('ctl');
const ofAll = flagsOn(...COMMAND_NAMES);

/** All flags under the headings of the help, by the name of the option that each sets. */
export const FLAG_GROUPS = {
  Address: {
    port: ofServeExecAndHealth(
      count(0, 65_535),
      `Port of the server, by default ${DEFAULTS.port}; 0 picks a free one, as exec does by default.`,
    ),
    host: ofServersAndHealth(
      one('NAME', text()),
      `Address of the server, by default ${DEFAULTS.host}; for 0.0.0.0, health asks the loopback address.`,
    ),
    tls: ofServersAndHealth(SWITCH, 'Serve HTTPS with a new certificate; health accepts any.'),
    tlsCert: ofServers(FILE, 'Serve HTTPS with this certificate, in PEM.'),
    tlsKey: ofServers(FILE, 'Private key of --tls-cert, in PEM.'),
    tlsWrite: ofServers(OUTPUT, 'Write the certificate to this file, for clients to trust.'),
    url: flagsOn('health', 'ctl')(
      HTTP_URL,
      `Base URL of the server; by default ${DEFAULT_URL} (ctl), or what --host and --port say (health).`,
    ),
    sandbox: ofCtl(SANDBOX, 'Sandbox to control instead of the default one.'),
    token: ofCtl(TOKEN, 'Token of the control API.'),
    ca: ofCtl(FILE, 'Trust this certificate, in PEM.'),
    timeout: ofTimed(
      milliseconds(1, 86_400_000),
      `Longest run of a command (exec, sweep), or longest wait for a reply: by default ${DEFAULTS.healthTimeout} ms (health) or ${DEFAULTS.deploymentTimeout} ms (check, record).`,
    ),
  },
  Store: {
    fixture: flagsOn(...SERVERS, 'validate')(
      FILE,
      `JSON file to start from, or the name of a shipped fixture; by default "${DEFAULTS.fixture}".`,
    ),
    animals: ofGenerators(MANY, 'Generate this many animals instead of reading a fixture.'),
    orders: ofGenerators(MANY, 'Generate this many orders instead of reading a fixture.'),
    seed: ofGenerators(
      count(-(2 ** 31), 2 ** 31 - 1),
      `Seed of everything random, by default ${DEFAULTS.seed}; the same seed gives the same store.`,
    ),
    db: ofServeAndExec(FILE, 'Keep the store in this file across restarts.'),
    shared: ofServe(REDIS, 'Share sandboxes through this Redis, such as redis://127.0.0.1:6379/0.'),
    watch: ofServeAndExec(SWITCH, 'Reload when the fixture or a scenario changes on disk.'),
  },
  Simulation: {
    scenarios: ofServers(SCENARIOS, 'Scenario to use: one that ships, or a file. Later ones win.'),
    sandboxRequired: ofServers(SWITCH, 'Refuse requests that name no sandbox.'),
    maxSandboxes: ofServers(
      MANY,
      `Most sandboxes, by default ${DEFAULTS.maxSandboxes}; the next gets 503.`,
    ),
    sandboxIdle: ofServers(one('DURATION', IDLE_TIME), 'Remove sandboxes idle for this long.'),
    journal: ofServers(MANY, `Exchanges to keep in each sandbox, by default ${DEFAULTS.journal}.`),
  },
  Answers: {
    assume: ofChoosers(ASSUMED, 'Choose another option of an assumption, as ID=OPTION.'),
    rateLimit: ofChoosers(RATE, 'Allow each key N requests a second (N/s) or minute (N/m).'),
    delay: ofServers(milliseconds(0, LONGEST_DELAY), 'Delay replies that no rule decides.'),
    maxHold: ofServers(one('DURATION', HOLD_TIME), 'Longest hold of a reply; by default PT5M.'),
    clock: ofServers(one('INSTANT', INSTANT), 'Time to start from, such as 2030-12-06T00:00:00Z.'),
    frozen: flagsOn(...SERVERS, 'ctl')(SWITCH, 'Stop the clock.'),
    plain: ofServers(SWITCH, 'Omit the Mock-Basis header, as the service does.'),
  },
  Keys: {
    key: flagsOn(...SERVERS, ...CALLERS)(
      KEYS,
      'Accept this API key instead of demo-key; the key of the deployment (check, record).',
    ),
    readOnlyKey: ofServersAndCheck(
      KEYS,
      'Accept this read-only key instead of demo-read-only-key; one of the deployment (check).',
    ),
    invalidKey: ofServersAndCheck(
      KEYS,
      'Refuse this key, even if another flag accepts it; one that the deployment refuses (check).',
    ),
    anyKey: ofServers(SWITCH, 'Accept every key that is not listed as invalid.'),
  },
  'Control API': {
    controlToken: ofServers(
      TOKEN,
      'Token of the control API, required unless the host is loopback; generated and printed by default.',
    ),
    metrics: ofServe(SWITCH, 'Count for /__mock/metrics from the start, not from its first read.'),
    noControl: ofServers(SWITCH, 'Turn the control API off, but for health and the certificate.'),
    none: ofCtl(SWITCH, 'Deactivate all scenarios (use).'),
    keep: ofCtl(KEPT, `Keep ${joinWords(KEEPABLE, 'or')} (reset); by default your own scenarios.`),
    follow: ofCtl(SWITCH, 'Print exchanges as they happen (requests).'),
  },
  Deployment: {
    upstream: ofServeAndExec(
      one('URL', BASE_URL),
      'Pass requests on to the deployment with this base URL, and return its replies.',
    ),
    upstreamKey: ofServeAndExec(one('KEY', KEY), "API key to send on in place of the client's."),
    upstreamTimeout: ofServeAndExec(
      milliseconds(1, 600_000),
      `Milliseconds that the deployment may be silent before the client gets 504, by default ${DEFAULTS.upstreamTimeout}.`,
    ),
    cacert: ofForwarders(FILE, 'Also trust this certificate, in PEM.'),
    rate: ofCallers(
      count(1, 10_000),
      `Most requests a second, by default ${DEFAULTS.deploymentRate}.`,
    ),
    yes: ofForwarders(SWITCH, 'Send requests to another machine without asking for consent.'),
    writes: ofCheck(SWITCH, 'Also send POST, PATCH and DELETE: creates animals and sets stock.'),
    cancel: ofCheck(ORDER_IDS, 'Pending order to cancel, with --writes.'),
    shipped: ofCheck(ORDER_IDS, 'Shipped order to try to cancel, with --writes.'),
    cancelled: ofCheck(ORDER_IDS, 'Cancelled order to cancel again, with --writes.'),
    dryRun: ofCheck(SWITCH, 'Print the requests and their purpose without sending them.'),
    save: ofCheck(OUTPUT, 'Write a config file that makes the mock answer the same.'),
    against: ofCheck(FILE, 'Compare with a --save or --json file; exit with 3 after a change.'),
    allowUnsettled: ofCheck(
      SWITCH,
      'Pass if few assumptions are settled, or fewer than in the --against file.',
    ),
    unknownStatus: ofRecord(
      one('STATUS', choice(ORDER_STATUSES)),
      `Status to record if an order shows none: ${joinWords(ORDER_STATUSES, 'or')}; by default ${DEFAULTS.unknownStatus}.`,
    ),
    anonymise: ofRecord(SWITCH, 'Replace the names of animals; equal names stay equal.'),
    diff: ofRecord(SWITCH, 'Show what changed since the file was recorded, and overwrite it.'),
  },
  Output: {
    log: ofServeAndExec(
      one('FORMAT', choice(['pretty', 'json', 'off'])),
      'Log format: pretty, json or off; by default pretty on a terminal, else json, and off under exec.',
    ),
    json: ofPrinters(SWITCH, 'Print JSON instead of a table.'),
    curl: ofResponses(SWITCH, 'Print curl commands to copy.'),
    check: ofResponses(SWITCH, 'Request each reply from a new server; exit with 1 if one differs.'),
    http: ofResponses(OUTPUT, 'Write the requests as an .http file.'),
    postman: ofResponses(OUTPUT, 'Write the requests as a Postman 2.1 collection.'),
    serverUrl: flagsOn('openapi', 'responses')(
      SERVER_URL,
      `Base URL of the service to write into the output, by default ${DEFAULT_URL}.`,
    ),
    documented: flagsOn('openapi')(SWITCH, 'Leave out what is assumed.'),
    output: ofRecorders(OUTPUT, 'Fixture to write; generate prints it by default.'),
    force: flagsOn(
      'check',
      'generate',
      'record',
      'responses',
    )(SWITCH, 'Overwrite an existing file.'),
  },
  Evidence: {
    coverage: ofServeAndExec(
      REPORT_FILES,
      'Write coverage at exit, as .json, .html or .xml (JUnit).',
    ),
    requireCoverage: ofExec(
      SHARE,
      'Exit with 3 if a smaller share of the documented replies was shown; documented means 100%.',
    ),
    failOn: ofExec(FAIL_ON, `Exit with 3 on these: ${joinWords(FAILING_KINDS, 'or')}.`),
    jobs: ofSweep(count(1, 1000), 'Run this many at a time; by default one for each processor.'),
    all: ofSweep(SWITCH, 'Also run the assumptions that the command did not touch.'),
    allow: ofSweep(ALLOWED, 'Expected failure, as ID=OPTION; does not affect the exit code.'),
    junit: ofReporters(OUTPUT, 'Also write the result as JUnit XML.'),
    html: ofReporters(OUTPUT, 'Also write the result as a web page.'),
  },
  Other: {
    config: ofConfigurable(FILE, 'JSON file with flags by name.'),
    help: { ...ofAll(SWITCH, 'Show this help.'), alias: 'h' },
    version: { ...ofAll(SWITCH, 'Show the version.'), alias: 'v' },
  },
} satisfies Record<string, Record<string, FlagShape>>;
