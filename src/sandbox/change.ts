import type { Choices } from '../contract/assumption-table.ts';
import type { EvidenceState, ExchangeEvidence, PastState } from '../evidence/evidence-shapes.ts';
import type { Start } from '../scenario/sandbox-start.ts';
import type { ClockState } from '../service/clock.ts';
import type { RateWindow } from '../service/rate-limit.ts';
import type { ChangeLog, Position } from '../store/log/change-log.ts';
import type { RecordedStore } from '../store/log/recorded-store.ts';
import type { StoreChange } from '../store/log/store-change.ts';
import type { Store } from '../store/store.ts';
import type { Upstream } from './upstream.ts';

/** What one request changed in a sandbox, as a value that another copy of it can apply. */
export interface Change extends Added {
  readonly store?: StoreChange | undefined;
  readonly settings?: SettingsChange | undefined;
  readonly counts?: CountsChange | undefined;
}

/** The effect of a change on the evidence, once it is kept. */
export interface Added {
  readonly exchange?: ExchangeEvidence | undefined;
  readonly cleared?: Cleared | undefined;
  /** The evidence of a deleted sandbox, which the default one keeps in a fleet. */
  readonly past?: PastState | undefined;
}

/** The journal alone, or coverage and findings too. */
type Cleared = 'journal' | 'evidence';

/** All settings but the snapshots. */
export interface Settings {
  /** What the sandbox was restarted from; `origin` after a reset. */
  readonly start: Start | 'origin';
  /** When that was, by the sandbox's clock. */
  readonly startedAt: number;
  readonly choices: Choices;
  readonly clock: ClockState;
  /** The deployment that answers. */
  readonly upstream: { readonly is: Upstream | undefined };
}

/** Settings that changed. */
export type SettingsChange = {
  readonly [Name in keyof Settings]?: Settings[Name] | undefined;
} & { readonly snapshots?: readonly SnapshotChange[] | undefined };

/** A snapshot of the store after the change was taken, or one was deleted. */
export interface SnapshotChange {
  readonly name: string;
  readonly taken: boolean;
}

/** Counts that changed, with their new values. */
export interface CountsChange {
  readonly rules: readonly RuleCount[];
  readonly rates: readonly RateCount[];
}

/** The calls that a rule has counted. */
export interface RuleCount {
  /** The scenario, if requests ask for it. */
  readonly scenario?: string | undefined;
  /** The index of the rule among those of its scenario, or of all active ones. */
  readonly index: number;
  readonly count: number;
}

/** The requests of a key; without a window, they are forgotten. */
interface RateCount {
  readonly key: string;
  readonly window?: RateWindow | undefined;
}

/** The state of a sandbox that replaces its earlier changes in a log. */
export interface SandboxSnapshot {
  readonly store: Store;
  /** Everything else; undefined if the log keeps only the records. */
  readonly state?: SandboxState | undefined;
}

/** A sandbox without its records, and without the exchanges that its journal keeps. */
export interface SandboxState {
  readonly settings: Settings;
  readonly counts: CountsChange;
  readonly snapshots: ReadonlyMap<string, Store>;
  readonly evidence: EvidenceState;
  readonly past: PastState;
}

/** Where the changes of a sandbox are kept. */
export interface SandboxLog {
  /** The records at `position`. */
  readonly store: RecordedStore;
  readonly log: ChangeLog<Change, SandboxSnapshot>;
  readonly position: Position;
}
