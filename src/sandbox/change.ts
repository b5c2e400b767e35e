import type { ClockState } from '../service/clock.ts';
import { changedStore, type Store, type StoreChange, storeChange } from '../store/store.ts';
import type { Counters, Settings, State } from './state.ts';

/** What turns a state into another. What stays the same is left out. */
export interface Change {
  readonly store?: StoreChange | undefined;
  readonly settings?: Settings | undefined;
  readonly clock?: ClockState | undefined;
  readonly counters?: Counters | undefined;
  readonly snapshots?: readonly SnapshotChange[] | undefined;
}

/** A snapshot that was taken, replaced or deleted. */
interface SnapshotChange {
  readonly name: string;
  /** How it differs from the store after the change; undefined if it was deleted. */
  readonly store: StoreChange | undefined;
}

/** What turns a state into another; undefined for the same. Visits only what differs. */
export function diff(before: State, after: State): Change | undefined {
  if (before === after) return undefined;
  const change: Change = {
    store: storeChange(before.store, after.store),
    settings: after.settings === before.settings ? undefined : after.settings,
    clock: after.clock === before.clock ? undefined : after.clock,
    counters: after.counters === before.counters ? undefined : after.counters,
    snapshots: snapshotChanges(before, after),
  };
  return Object.values(change).some((part) => part !== undefined) ? change : undefined;
}

function snapshotChanges(before: State, after: State): SnapshotChange[] | undefined {
  if (before.snapshots === after.snapshots) return undefined;
  const changes: SnapshotChange[] = [];
  for (const name of before.snapshots.keys()) {
    if (!after.snapshots.has(name)) changes.push({ name, store: undefined });
  }
  for (const [name, store] of after.snapshots) {
    if (before.snapshots.get(name) === store) continue;
    changes.push({ name, store: storeChange(after.store, store) ?? {} });
  }
  return changes;
}

/** The state after a change. `apply(before, diff(before, after))` equals `after`. */
export function apply(before: State, change: Change): State {
  const store =
    change.store === undefined ? before.store : changedStore(before.store, change.store);
  return {
    store,
    settings: change.settings ?? before.settings,
    clock: change.clock ?? before.clock,
    counters: change.counters ?? before.counters,
    snapshots: changedSnapshots(before.snapshots, store, change.snapshots),
  };
}

function changedSnapshots(
  before: State['snapshots'],
  after: Store,
  changes: readonly SnapshotChange[] | undefined,
): State['snapshots'] {
  if (changes === undefined) return before;
  const snapshots = new Map(before);
  for (const { name, store } of changes) {
    if (store === undefined) snapshots.delete(name);
    else snapshots.set(name, changedStore(after, store));
  }
  return snapshots;
}
