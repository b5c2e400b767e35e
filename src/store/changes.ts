import type { Base } from './base.ts';

/** Consecutive records of a collection. */
export interface Run<R> {
  /** Equal versions mean equal records. */
  readonly version: number;
  /** Reads the records on demand. */
  records(): readonly R[];
}

/** A run that differs from the base. */
export interface ChangedRun<R> {
  version: number;
  /**
   * Records that replace those of the base, by position; undefined if removed. Created when needed:
   * the runs of added records have none.
   */
  records: Map<number, R | undefined> | undefined;
  /** Only these changes may modify the run; others share it. */
  readonly owner: Changes<R>;
}

/** The differences from a base. Empty members are undefined, since there can be many instances. */
export interface Changes<R> {
  /** Changed runs by number. The runs of added records follow those of the base. */
  runs: Map<number, ChangedRun<R>> | undefined;
  /** The number of records removed from the base. */
  removed: number;
  /** Records whose ids are not in the base, ascending. */
  added: R[];
  /** Replaced and added records together, ascending; made on demand. */
  ordered: readonly R[] | undefined;
  /** The highest id ever used, including removed records; undefined if none. */
  highest: bigint | undefined;
  /** Unique to this state among all collections, except for unmodified forks. */
  version: number;
}

let lastVersion = 0;

/** Returns a new version, unique among all collections and runs. */
export function nextVersion(): number {
  lastVersion += 1;
  return lastVersion;
}

/** The changes of a collection that equals its base. */
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

/** The number of positions in a run. A write invalidates only the text of its run. */
export const RUN_LENGTH = 64;

/** The number of the run that contains a position. */
export function runAt(position: number): number {
  return Math.floor(position / RUN_LENGTH);
}

/** An independent copy. Copies a run only when it changes. */
export function copyOf<R>(changes: Changes<R>): Changes<R> {
  const { added, runs } = changes;
  return { ...changes, added: [...added], runs: runs && new Map(runs) };
}

/** A run that these changes may modify. */
export function ownRun<R>(changes: Changes<R>, number: number): ChangedRun<R> {
  changes.runs ??= new Map();
  const known = changes.runs.get(number);
  if (known?.owner === changes) return known;
  const records = known?.records && new Map(known.records);
  const run: ChangedRun<R> = { version: changes.version, records, owner: changes };
  changes.runs.set(number, run);
  return run;
}

/** Replaces or removes the record at a position of the base. */
export function replaceIn<R>(run: ChangedRun<R>, position: number, record: R | undefined): void {
  run.records ??= new Map();
  run.records.set(position, record);
}

/** Changes every record of some changes. `change` must keep ids. */
export function changedBy<R>(changes: Changes<R>, change: (record: R) => R): Changes<R> {
  const { runs, removed, added, highest } = changes;
  const changed = { ...noChanges<R>(highest), removed, added: added.map(change) };
  for (const [number, { records }] of runs ?? []) {
    const run = ownRun(changed, number);
    run.version = nextVersion();
    for (const [position, record] of records ?? []) {
      replaceIn(run, position, record && change(record));
    }
  }
  return changed;
}

/** The ids whose records may differ between two states over the same base. */
export function differingIds<R>(
  base: Base<R>,
  one: Changes<R>,
  other: Changes<R>,
  idOf: (record: R) => bigint,
): ReadonlySet<bigint> {
  const ids = new Set<bigint>();
  for (const number of new Set([...(one.runs?.keys() ?? []), ...(other.runs?.keys() ?? [])])) {
    const [here, there] = [one.runs?.get(number), other.runs?.get(number)];
    if (here === there) continue;
    for (const run of [here, there]) {
      for (const position of run?.records?.keys() ?? []) ids.add(base.idAt(position));
    }
  }
  const [here, there] = [one.added, other.added];
  let same = 0;
  while (same < here.length && here[same] === there[same]) same += 1;
  for (const added of [here, there]) {
    for (let at = same; at < added.length; at += 1) {
      const record = added[at];
      if (record !== undefined) ids.add(idOf(record));
    }
  }
  return ids;
}

/** The version of the first run of each base. Later runs count up from it. */
const firstVersions = new WeakMap<object, number>();

/** The version of the first run of an unchanged base. */
export function firstVersionOf(base: Base<unknown>): number {
  let first = firstVersions.get(base);
  if (first === undefined) {
    first = lastVersion + 1;
    lastVersion += Math.ceil(base.size / RUN_LENGTH);
    firstVersions.set(base, first);
  }
  return first;
}
