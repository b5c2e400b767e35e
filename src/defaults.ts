export const DEFAULTS = {
  host: '127.0.0.1',
  port: 4010,
  fixture: 'default',
  seed: 1,
  /** Exchanges kept in each sandbox. */
  journal: 1000,
  maxSandboxes: 10_000,
  /** Milliseconds. */
  maxHold: 300_000,
  /** Milliseconds. */
  upstreamTimeout: 30_000,
  /** Milliseconds that `health` waits for the reply. */
  healthTimeout: 3000,
  /** Milliseconds until a deployment's reply to `check` or `record` must be complete. */
  deploymentTimeout: 10_000,
  /** Requests to a deployment in a second. */
  deploymentRate: 5,
  unknownStatus: 'pending',
} as const;

/** The sandbox at `/v1`; `/~default/v1` is the same one. */
export const DEFAULT_SANDBOX = 'default';

/** The document's second deployment, at `/~staging/v1`. */
export const STAGING_SANDBOX = 'staging';

/** They always exist, in this order. */
export const PERMANENT_SANDBOXES: readonly string[] = [DEFAULT_SANDBOX, STAGING_SANDBOX];
