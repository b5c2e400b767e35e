/** What all sandboxes of a server have in common, apart from what they start from. */
export interface SandboxOptions {
  /** How many exchanges each sandbox keeps; 1,000 by default, 0 keeps none. */
  readonly journal?: number | undefined;
  /** How many sandboxes there may be besides the default one and staging; 10,000 by default. */
  readonly maxSandboxes?: number | undefined;
  /** Whether exchanges are counted for the metrics from the start, not only once they were read. */
  readonly metrics?: boolean | undefined;
  /** Whether a request must name a sandbox. */
  readonly sandboxRequired?: boolean | undefined;
  /** Milliseconds after which a sandbox that nobody uses is removed; by default never. */
  readonly sandboxIdle?: number | undefined;
  /** Milliseconds after which a held reply goes out although nobody released it; 5 minutes by default. */
  readonly maxHold?: number | undefined;
}
