import type { OnFinding } from '../evidence/totals.ts';
import type { StartSettings } from '../scenario/sandbox-start.ts';
import { LATEST } from '../service/clock.ts';
import { describe } from '../words.ts';

/** What sandboxes may take, and what is noted of them. */
export interface SandboxLimits {
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
  /** Called for each new finding. */
  readonly onFinding?: OnFinding | undefined;
}

/** @throws RangeError if no timer can wait for a time, or no clock can show it */
export function checkTimes({ maxHold, sandboxIdle, clock }: SandboxLimits & StartSettings): void {
  for (const [name, value] of Object.entries({ maxHold, sandboxIdle })) {
    if (value === undefined || (value >= 1 && value < 2 ** 31)) continue;
    throw new RangeError(`${name}: expected milliseconds from 1 to 2^31-1, found ${value}`);
  }
  // Code without types can pass text.
  if (clock === undefined || (Number.isFinite(clock) && clock >= 0 && clock <= LATEST)) return;
  throw new RangeError(`clock: expected milliseconds since 1970, found ${describe(clock)}`);
}

/** All sandboxes, as far as they can be removed. */
interface RemovableSandboxes {
  unused(): Promise<ReadonlyMap<string, number>>;
  remove(name: string, unusedFor: number): Promise<boolean>;
}

/** The longest pause between two looks, in milliseconds: an hour. */
const LONGEST_PAUSE = 3_600_000;

/**
 * Removes sandboxes that were not used for some time; `remove` keeps the default one and staging.
 *
 * @param idle in milliseconds
 * @param onRemoved called with the name of each, by the server that removed it
 * @returns stops
 */
export function removeIdle(
  sandboxes: RemovableSandboxes,
  idle: number,
  onRemoved: (name: string) => void,
): () => void {
  let isLooking = false;
  const look = async (): Promise<void> => {
    if (isLooking) return;
    isLooking = true;
    // What fails while Redis is away, the next look tries again.
    const all = await sandboxes.unused().catch(() => new Map<string, number>());
    for (const [name, unused] of all) {
      if (unused < idle) continue;
      const isRemoved = await sandboxes.remove(name, idle).catch(() => false);
      if (isRemoved) onRemoved(name);
    }
    isLooking = false;
  };
  const timer = setInterval(() => void look(), Math.min(idle / 4, LONGEST_PAUSE)).unref();
  return () => clearInterval(timer);
}
