import type { Base } from './base.ts';

/** What differs from the base. There can be many of these, so empty members are left out. */
export interface Changes<R> {
  /** Records in the place of those of the base, by id. */
  replaced: Map<bigint, R> | undefined;
  /** Ids of the base that were removed. */
  removed: Set<bigint> | undefined;
  /** Records whose ids are not in the base, ascending; most come at the end. */
  added: R[];
  /** `replaced` and `added` together, ascending; made on demand. */
  ordered: readonly R[] | undefined;
  /** The highest id ever used, removed ones included; undefined if there was none. */
  highest: bigint | undefined;
  /** Unique to this state among all collections, except for unchanged forks. */
  version: number;
  /** The version of each run that differs from the base. */
  runs: Map<number, number> | undefined;
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
    replaced: undefined,
    removed: undefined,
    added: [],
    ordered: undefined,
    highest,
    version: nextVersion(),
    runs: undefined,
  };
}

/** Positions of a base in one run. A write makes only the text of its own run stale. */
export const RUN_LENGTH = 64;

/** A copy that can be changed without changing the original. */
export function copyOf<R>(changes: Changes<R>): Changes<R> {
  const { replaced, removed, added, runs } = changes;
  return {
    ...changes,
    replaced: replaced && new Map(replaced),
    removed: removed && new Set(removed),
    added: [...added],
    runs: runs && new Map(runs),
  };
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
