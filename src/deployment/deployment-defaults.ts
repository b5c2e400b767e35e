/** How a deployment is called unless flags say otherwise. */
export const DEPLOYMENT_DEFAULTS = {
  /** Milliseconds until a reply must be complete. */
  timeout: 10_000,
  /** Requests per second. */
  rate: 5,
  /** The most bytes of a reply's body. */
  mostBytes: 256 * 1024 * 1024,
} as const;
