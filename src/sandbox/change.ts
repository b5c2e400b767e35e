import type { LatchRule } from '../scenario/rules.ts';
import type { SavedScenario } from '../scenario/scenario-text.ts';
import type { Clock } from '../service/clock.ts';
import type { RateWindow } from '../service/keyring.ts';
import { applyStoreChange, type StoreChange, storeChange } from '../store/store.ts';
import type { SandboxSettings, State } from './state.ts';

/** What turns a state into another. What stays the same is left out. */
export interface Change {
  readonly store?: StoreChange | undefined;
  readonly settings?: SandboxSettings | undefined;
  readonly clock?: Clock | undefined;
  readonly rules?: MapChange<number> | undefined;
  readonly rates?: MapChange<RateWindow> | undefined;
  /** Saved stores, as they differ from the store after the change. */
  readonly snapshots?: MapChange<StoreChange> | undefined;
  readonly scenarios?: MapChange<SavedScenario> | undefined;
  readonly latches?: MapChange<LatchRule> | undefined;
}

/** What turns a map into another. */
interface MapChange<T> {
  readonly remove: readonly string[];
  /** Entries that are new or have another value, which come last. */
  readonly set: readonly (readonly [string, T])[];
}

/** What turns a state into another; undefined for the same. Visits only what differs. */
export function diff(before: State, after: State): Change | undefined {
  if (before === after) return undefined;
  const snapshots = mapChange(before.snapshots, after.snapshots);
  const change: Change = {
    store: storeChange(before.store, after.store),
    settings: after.settings === before.settings ? undefined : after.settings,
    clock: after.clock === before.clock ? undefined : after.clock,
    rules: mapChange(before.counters.rules, after.counters.rules),
    rates: mapChange(before.counters.rates, after.counters.rates),
    snapshots: mapValues(snapshots, (store) => storeChange(after.store, store) ?? {}),
    scenarios: mapChange(before.scenarios, after.scenarios),
    latches: mapChange(before.latches, after.latches),
  };
  return Object.values(change).some((part) => part !== undefined) ? change : undefined;
}

function mapChange<T>(
  before: ReadonlyMap<string, T>,
  after: ReadonlyMap<string, T>,
): MapChange<T> | undefined {
  if (before === after) return undefined;
  return {
    remove: [...before.keys()].filter((name) => !after.has(name)),
    set: [...after].filter(([name, value]) => before.get(name) !== value),
  };
}

/** A change of a map with other values. */
export function mapValues<T, U>(
  change: MapChange<T> | undefined,
  convert: (value: T) => U,
): MapChange<U> | undefined {
  return change && { ...change, set: change.set.map(([name, value]) => [name, convert(value)]) };
}

/** The state after a change. `apply(before, diff(before, after))` equals `after`. */
export function apply(before: State, change: Change): State {
  const store =
    change.store === undefined ? before.store : applyStoreChange(before.store, change.store);
  const snapshots = mapValues(change.snapshots, (it) => applyStoreChange(store, it));
  return {
    store,
    settings: change.settings ?? before.settings,
    clock: change.clock ?? before.clock,
    counters: {
      rules: applyMapChange(before.counters.rules, change.rules),
      rates: applyMapChange(before.counters.rates, change.rates),
    },
    snapshots: applyMapChange(before.snapshots, snapshots),
    scenarios: applyMapChange(before.scenarios, change.scenarios),
    latches: applyMapChange(before.latches, change.latches),
  };
}

/** What was set comes last: the order of rate windows and snapshots matters. */
function applyMapChange<T>(
  before: ReadonlyMap<string, T>,
  change: MapChange<T> | undefined,
): ReadonlyMap<string, T> {
  if (change === undefined) return before;
  const after = new Map(before);
  for (const name of change.remove) after.delete(name);
  for (const [name, value] of change.set) {
    after.delete(name);
    after.set(name, value);
  }
  return after;
}

/** A map with an entry added or replaced, which comes last. */
export function withEntry<T>(map: ReadonlyMap<string, T>, name: string, value: T) {
  return applyMapChange(map, { remove: [], set: [[name, value]] });
}
