import { LATEST } from '../service/clock.ts';
import { describe } from '../words.ts';

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

/** @throws RangeError if no timer can wait for a time, or no clock can show it */
export function checkTimes({
  maxHold,
  sandboxIdle,
  clock,
}: SandboxOptions & { readonly clock?: number | undefined }): void {
  for (const [name, value] of Object.entries({ maxHold, sandboxIdle })) {
    if (value === undefined || (value >= 1 && value < 2 ** 31)) continue;
    throw new RangeError(`${name}: expected milliseconds from 1 to 2^31-1, found ${value}`);
  }
  // Code without types can pass text.
  if (clock === undefined || (Number.isFinite(clock) && clock >= 0 && clock <= LATEST)) return;
  throw new RangeError(`clock: expected milliseconds since 1970, found ${describe(clock)}`);
}
