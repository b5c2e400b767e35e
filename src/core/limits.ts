export const DEFAULTS = {
  host: '127.0.0.1',
  port: 4010,
  fixture: 'default',
  seed: 1,
  journal: 1000,
  maxSandboxes: 10_000,
  /** How long a reply may be held, in milliseconds. */
  maxHold: 300_000,
  /** How long the command `health` waits for the reply, in milliseconds. */
  healthTimeout: 3000,
  /** How long `check` and `record` wait for more bytes of a deployment's reply, in milliseconds. */
  deploymentTimeout: 10_000,
} as const;

/** The sandbox at `/v1`; `/~default/v1` is the same one. */
export const DEFAULT_SANDBOX = 'default';

/** The document's second deployment, at `/~staging/v1`. */
export const STAGING_SANDBOX = 'staging';

export const PERMANENT_SANDBOXES: readonly string[] = [DEFAULT_SANDBOX, STAGING_SANDBOX];

/** The most records of a kind: so many, and a list of them all, fit in memory. */
export const MAX_RECORDS = 1_000_000;

const KIB = 1024;
const MIB = 1024 ** 2;

/** No cost may grow as the product of two counts that a caller chooses: see docs/errors.md. */
export const LIMITS = {
  nesting: 100, // Levels of nesting in JSON and YAML
  problems: 20, // Problems that a message lists
  head: 16 * KIB, // Bytes of the head of a request
  serviceBody: 8 * MIB, // Bytes of a body under `body-limit=none`
  controlBody: MIB, // Bytes of a body of the control API
  deploymentBody: 64 * MIB, // Bytes of a body to or from a deployment
  deploymentSockets: 100, // Connections to a deployment; other requests wait for one
  deploymentHead: 64 * KIB, // Bytes of the head of a reply of a deployment
  recordText: 64 * KIB, // Characters of a name, a status or a date of a record
  keptBody: 256 * KIB, // Bytes of a body that the journal keeps and searches
  lag: 20, // Calls of a `lag`, and changes of the store that it can go back
  patchItems: 20, // Items in the `patch` of a rule
  patchedBody: MIB, // Bytes of a body that a rule patches; a longer one stays as it is
  named: 100, // Snapshots, scenarios of its own and latches of a sandbox, of each kind
  snapshotRecords: 3_000_000, // Records in all snapshots of a sandbox
  yamlText: 16 * KIB, // Characters of a scenario in YAML in a request
  jsonText: 128 * KIB, // Characters of a scenario in JSON in a request
  rules: 1000, // Rules of a scenario, and of all active ones together
  counters: 2500, // Rules whose calls a sandbox counts; it forgets the longest unused ones
  each: 20, // Changes in the `each` of a collection, in all active scenarios together
  calls: 100, // Numbers and ranges in the `calls` of a rule
  generated: 100_000, // Animals or orders that the scenarios of requests generate together
  sortFields: 5, // Fields in `_sort` and directions in `_order`
  searchTerms: 10, // Words and fields of a `search`
  listeners: 100, // Streams and waiting counts of a sandbox (`requests/stream`, `requests/count` with `atLeast`)
  filterText: 200, // Characters of a text that records or exchanges are compared with
};

/** A name that a caller chooses. `.` and `..` are excluded, because URLs treat them as folders. */
export const NAME_PATTERN = /^(?!\.{1,2}$)[A-Za-z0-9._-]{1,64}$/;

/** A scenario's name may have letters of any script, so that it can match its file's name. */
export const SCENARIO_NAME_PATTERN = /^(?!\.{1,2}$)[\p{L}\p{M}\p{N}._-]{1,64}$/u;

export const SCENARIO_NAME_FORM = '1 to 64 letters, digits, . _ and -, other than . and ..';

export const NAME_FORM = '1 to 64 of a-z A-Z 0-9 . _ -, other than . and ..';
