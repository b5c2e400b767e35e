import type { ChangeLog, Position } from '../store/log/change-log.ts';
import type { RecordedStore } from '../store/log/recorded-store.ts';
import type { StoreChange } from '../store/log/store-change.ts';
import type { Store } from '../store/store.ts';

/** What one request changed in a sandbox, as a value that another copy of it can apply. */
export interface Change {
  readonly store?: StoreChange | undefined;
}

/** What a log needs to know of a sandbox, in place of its changes so far. */
export interface SandboxSnapshot {
  readonly store: Store;
}

/** Where the changes of a sandbox are kept. */
export interface SandboxLog {
  /** The records at `position`. */
  readonly store: RecordedStore;
  readonly log: ChangeLog<Change, SandboxSnapshot>;
  readonly position: Position;
}
