/**
 * The records a collection starts from, in ascending order of their ids. Shared by every fork and
 * never changed, so it may be made of what a fixture holds or drawn record by record on demand.
 */
export interface Base<R> {
  readonly size: number;
  /** The record at a position from 0 to size - 1. */
  at(position: number): R;
  idAt(position: number): bigint;
}

/** What differs from the base. */
interface Changes<R> {
  /** Records set, by id: in place of one of the base, or beside it. */
  readonly set: Map<bigint, R>;
  /** Ids of the base that were removed. */
  readonly removed: Set<bigint>;
  /** Ids that were set and are not in the base, ascending. */
  readonly added: bigint[];
  /** The highest id ever used, removed ones included; undefined while there was none. */
  highest: bigint | undefined;
  /** Grows whenever an id comes or goes. */
  membership: number;
}

/** Makes a base of records in any order. Their ids must differ. */
export function baseOf<R>(records: readonly R[], idOf: (record: R) => bigint): Base<R> {
  const sorted = records.toSorted((a, b) => (idOf(a) < idOf(b) ? -1 : 1));
  const at = (position: number): R => {
    const record = sorted[position];
    if (record === undefined) throw new RangeError(`There is no record at ${position}.`);
    return record;
  };
  return { size: sorted.length, at, idAt: (position) => idOf(at(position)) };
}

/**
 * Records ordered by id over a shared base. A fork costs the same whatever the size: it shares the
 * changes until one of the two is written to.
 */
export class Collection<R extends object> {
  readonly #base: Base<R>;
  readonly #idOf: (record: R) => bigint;
  #changes: Changes<R>;
  #shared = false;

  constructor(base: Base<R>, idOf: (record: R) => bigint) {
    this.#base = base;
    this.#idOf = idOf;
    const highest = base.size > 0 ? base.idAt(base.size - 1) : undefined;
    this.#changes = { set: new Map(), removed: new Set(), added: [], highest, membership: 0 };
  }

  get size(): number {
    const { added, removed } = this.#changes;
    return this.#base.size - removed.size + added.length;
  }

  /** The highest id ever used, or undefined where no record has ever been here. */
  get highestId(): bigint | undefined {
    return this.#changes.highest;
  }

  /** Changes whenever an id comes or goes, so that what was made of all ids can be kept. */
  get membership(): number {
    return this.#changes.membership;
  }

  get(id: bigint): R | undefined {
    const set = this.#changes.set.get(id);
    if (set !== undefined) return set;
    const position = this.#positionOf(id);
    return position < 0 || this.#changes.removed.has(id) ? undefined : this.#base.at(position);
  }

  has(id: bigint): boolean {
    return this.get(id) !== undefined;
  }

  /** Puts a record in the place of the one with its id, or adds it. */
  set(record: R): void {
    const changes = this.#ownChanges();
    const id = this.#idOf(record);
    if (this.#positionOf(id) >= 0) {
      if (changes.removed.delete(id)) changes.membership += 1;
    } else if (!changes.set.has(id)) {
      insertSorted(changes.added, id);
      changes.membership += 1;
    }
    changes.set.set(id, record);
    if (changes.highest === undefined || id > changes.highest) changes.highest = id;
  }

  /** @returns whether there was a record with this id */
  delete(id: bigint): boolean {
    if (!this.has(id)) return false;
    const changes = this.#ownChanges();
    changes.set.delete(id);
    changes.membership += 1;
    if (this.#positionOf(id) >= 0) changes.removed.add(id);
    else
      changes.added.splice(
        lowerBound(changes.added.length, (i) => changes.added[i] ?? 0n, id),
        1,
      );
    return true;
  }

  /** The records with ids above `after`, in ascending order of their ids. */
  *ascending(after?: bigint): Generator<R> {
    const { added, removed, set } = this.#changes;
    let position = after === undefined ? 0 : this.#firstAbove(after);
    let next =
      after === undefined ? 0 : lowerBound(added.length, (i) => added[i] ?? 0n, after + 1n);
    for (;;) {
      const inBase = position < this.#base.size ? this.#base.idAt(position) : undefined;
      const beside = added[next];
      if (inBase === undefined && beside === undefined) return;
      if (beside === undefined || (inBase !== undefined && inBase < beside)) {
        if (inBase !== undefined && !removed.has(inBase)) {
          yield set.get(inBase) ?? this.#base.at(position);
        }
        position += 1;
      } else {
        const record = set.get(beside);
        if (record !== undefined) yield record;
        next += 1;
      }
    }
  }

  /** The records with ids below `before`, in descending order of their ids. */
  *descending(before?: bigint): Generator<R> {
    const { added, removed, set } = this.#changes;
    let position = (before === undefined ? this.#base.size : this.#firstAbove(before - 1n)) - 1;
    let next =
      (before === undefined
        ? added.length
        : lowerBound(added.length, (i) => added[i] ?? 0n, before)) - 1;
    for (;;) {
      const inBase = position >= 0 ? this.#base.idAt(position) : undefined;
      const beside = added[next];
      if (inBase === undefined && beside === undefined) return;
      if (beside === undefined || (inBase !== undefined && inBase > beside)) {
        if (inBase !== undefined && !removed.has(inBase)) {
          yield set.get(inBase) ?? this.#base.at(position);
        }
        position -= 1;
      } else {
        const record = set.get(beside);
        if (record !== undefined) yield record;
        next -= 1;
      }
    }
  }

  /** A collection with the same records that shares nothing afterwards. */
  fork(): Collection<R> {
    const fork = new Collection(this.#base, this.#idOf);
    fork.#changes = this.#changes;
    fork.#shared = true;
    this.#shared = true;
    return fork;
  }

  #ownChanges(): Changes<R> {
    if (this.#shared) {
      const { set, removed, added } = this.#changes;
      this.#changes = {
        ...this.#changes,
        set: new Map(set),
        removed: new Set(removed),
        added: [...added],
      };
      this.#shared = false;
    }
    return this.#changes;
  }

  /** The position of an id in the base, or -1. */
  #positionOf(id: bigint): number {
    const base = this.#base;
    if (base.size === 0) return -1;
    // Ids mostly count up from the first without a gap, which makes the position a subtraction.
    const guess = Number(id - base.idAt(0));
    if (guess >= 0 && guess < base.size && base.idAt(guess) === id) return guess;
    const position = lowerBound(base.size, base.idAt, id);
    return position < base.size && base.idAt(position) === id ? position : -1;
  }

  #firstAbove(id: bigint): number {
    return lowerBound(this.#base.size, this.#base.idAt, id + 1n);
  }
}

/** The first of `size` ascending ids that is not below `id`. */
function lowerBound(size: number, idAt: (position: number) => bigint, id: bigint): number {
  let low = 0;
  let high = size;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (idAt(middle) < id) low = middle + 1;
    else high = middle;
  }
  return low;
}

function insertSorted(ids: bigint[], id: bigint): void {
  const last = ids.at(-1);
  if (last === undefined || last < id) ids.push(id);
  else
    ids.splice(
      lowerBound(ids.length, (i) => ids[i] ?? 0n, id),
      0,
      id,
    );
}
