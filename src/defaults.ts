/** Defaults of both the flags and the library's options. */
export const DEFAULTS = {
  host: '127.0.0.1',
  port: 4010,
  fixture: 'default',
  seed: 1,
  /** Exchanges kept in each sandbox. */
  journal: 1000,
  maxSandboxes: 10_000,
  /** Milliseconds. */
  upstreamTimeout: 30_000,
} as const;
