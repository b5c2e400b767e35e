import type { Base } from './base.ts';

/** Consecutive records of a collection. */
export interface Run<R> {
  /** Unique to this run in this state: equal versions mean equal records. */
  readonly version: number;
  /** The records, read on demand. */
  records(): readonly R[];
}

/** A run that differs from the base. */
export interface ChangedRun<R> {
  version: number;
  /** Records in the place of those of the base, by id; undefined if removed. */
  readonly records: Map<bigint, R | undefined>;
  /** The only changes that may change this run; others share it. */
  readonly owner: Changes<R>;
}

/** What differs from the base. There can be many of these, so empty members are left out. */
export interface Changes<R> {
  /** Runs by number, those of the added records behind the base included. */
  runs: Map<number, ChangedRun<R>> | undefined;
  /** How many records of the base were removed. */
  removed: number;
  /** Records whose ids are not in the base, ascending; most come at the end. */
  added: R[];
  /** The replaced and added records together, ascending; made on demand. */
  ordered: readonly R[] | undefined;
  /** The highest id ever used, removed ones included; undefined if there was none. */
  highest: bigint | undefined;
  /** Unique to this state among all collections, except for unchanged forks. */
  version: number;
}

let lastVersion = 0;

/** A version that no state of any collection, and no run, has had. */
export function nextVersion(): number {
  lastVersion += 1;
  return lastVersion;
}

/** The changes of a collection that is as its base is. */
export function noChanges<R>(highest: bigint | undefined): Changes<R> {
  return {
    runs: undefined,
    removed: 0,
    added: [],
    ordered: undefined,
    highest,
    version: nextVersion(),
  };
}

/** Positions of a base in one run. A write makes only the text of its own run stale. */
export const RUN_LENGTH = 64;

/** The number of a run, from the position of a record in it. */
export function runAt(position: number): number {
  return Math.floor(position / RUN_LENGTH);
}

/** A copy that can be changed without changing the original. Runs are copied when they change. */
export function copyOf<R>(changes: Changes<R>): Changes<R> {
  const { added, runs } = changes;
  return { ...changes, added: [...added], runs: runs && new Map(runs) };
}

/** A run that these changes may change. */
export function ownRun<R>(changes: Changes<R>, number: number): ChangedRun<R> {
  changes.runs ??= new Map();
  const known = changes.runs.get(number);
  if (known?.owner === changes) return known;
  const run = { version: changes.version, records: new Map(known?.records), owner: changes };
  changes.runs.set(number, run);
  return run;
}

/** The changes after each of their records was changed; `change` keeps the id. */
export function changedBy<R>(changes: Changes<R>, change: (record: R) => R): Changes<R> {
  const { runs, removed, added, highest } = changes;
  const changed = { ...noChanges<R>(highest), removed, added: added.map(change) };
  for (const [number, { records }] of runs ?? []) {
    const run = ownRun(changed, number);
    run.version = nextVersion();
    for (const [id, record] of records) run.records.set(id, record && change(record));
  }
  return changed;
}

/** The version of each base's first run; the runs after it count up from there. */
const firstVersions = new WeakMap<object, number>();

/** The version of the first run of a base that nobody has changed. */
export function firstVersionOf(base: Base<unknown>): number {
  let first = firstVersions.get(base);
  if (first === undefined) {
    first = lastVersion + 1;
    lastVersion += Math.ceil(base.size / RUN_LENGTH);
    firstVersions.set(base, first);
  }
  return first;
}
