/** What a server is started with where nobody says otherwise: flags and options have the same. */
export const DEFAULTS = {
  host: '127.0.0.1',
  port: 4010,
  fixture: 'default',
  seed: 1,
  /** Exchanges kept in each sandbox. */
  journal: 1000,
  maxSandboxes: 10_000,
} as const;
