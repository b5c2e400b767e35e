import type { OnFinding } from '../evidence/totals.ts';
import { type Fleet, type Keeper, KeeperError } from './keeper.ts';
import type { Upstream } from './upstream.ts';

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

/** @throws RangeError if a time is none that a timer can wait */
export function checkTimes({ maxHold, sandboxIdle }: SandboxLimits): void {
  for (const [name, value] of Object.entries({ maxHold, sandboxIdle })) {
    if (value === undefined || (value >= 1 && value < 2 ** 31)) continue;
    throw new RangeError(`${name}: expected milliseconds from 1 to 2^31-1, found ${value}`);
  }
}

/** What keeps sandboxes, and what answers in them. */
export interface SandboxParts {
  /** Keeps the default sandbox. */
  readonly keeper?: Keeper | undefined;
  /** Keeps all sandboxes. */
  readonly fleet?: Fleet | undefined;
  /** The deployment that answers in place of the mock. */
  readonly upstream?: Upstream | undefined;
}

/** The limit of sandboxes is reached. */
export class SandboxLimitError extends KeeperError {
  override readonly name = 'SandboxLimitError';
  override readonly code = 'too_many_sandboxes';

  constructor(most: number, sandbox: string) {
    super(
      `sandbox limit (${most}) reached; ${sandbox} was not created. Delete sandboxes, or raise --max-sandboxes`,
    );
  }
}
