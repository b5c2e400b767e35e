import type { OnFinding } from '../evidence/findings.ts';
import type { Observer } from '../evidence/journal.ts';
import type { LogMeter, Meter } from '../evidence/meter.ts';
import type { Evidence } from './past.ts';
import type { Upstream } from './upstream.ts';

/** What all sandboxes of a server share. */
export interface SandboxShare {
  /** How many exchanges each journal keeps. */
  readonly journal: number;
  readonly observers: ReadonlySet<Observer>;
  readonly onFinding: OnFinding | undefined;
  /** The deployment that answers in each sandbox at first; undefined if the mock does. */
  readonly upstream: Upstream | undefined;
  /** Counts exchanges; undefined until somebody wants to know. */
  meter?: Meter | undefined;
  readonly logMeter?: LogMeter;
  /** Called before a sandbox forgets its evidence. */
  readonly forgotten: (sandbox: Evidence) => void;
}
