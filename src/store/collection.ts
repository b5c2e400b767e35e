/**
 * The records a collection starts from, in ascending order of their ids. Shared by every fork and
 * never changed, so it may be made of what a fixture holds or drawn record by record on demand.
 */
export interface Base<R> {
  readonly size: number;
  /** The record at a position from 0 to size - 1. */
  at(position: number): R;
  idAt(position: number): bigint;
  /** The `petId` of the record at a position, where it costs less than the whole record. */
  readonly petIdAt?: (position: number) => bigint | undefined;
}

/** What differs from the base. There are many of these, so what is empty is left out. */
interface Changes<R> {
  /** Records in the place of those of the base, by id. */
  replaced: Map<bigint, R> | undefined;
  /** Ids of the base that were removed. */
  removed: Set<bigint> | undefined;
  /** Records whose ids are not in the base, ascending; most come at the end. */
  added: R[];
  /** The highest id ever used, removed ones included; undefined while there was none. */
  highest: bigint | undefined;
  /** No two states of any collection have the same one, but for forks that nobody changed. */
  version: number;
}

let lastVersion = 0;

function noChanges<R>(highest: bigint | undefined): Changes<R> {
  lastVersion += 1;
  return { replaced: undefined, removed: undefined, added: [], highest, version: lastVersion };
}

/** Some records of a collection. */
export interface Run<R> {
  /** Where they start in the base, where they are all as they are there; else undefined. */
  readonly position: number | undefined;
  readonly records: Iterable<R>;
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
  #base: Base<R>;
  readonly #idOf: (record: R) => bigint;
  #changes: Changes<R>;
  #shared = false;

  constructor(base: Base<R>, idOf: (record: R) => bigint) {
    this.#base = base;
    this.#idOf = idOf;
    this.#changes = noChanges(base.size > 0 ? base.idAt(base.size - 1) : undefined);
  }

  get size(): number {
    const { added, removed } = this.#changes;
    return this.#base.size - (removed?.size ?? 0) + added.length;
  }

  /** The highest id ever used, or undefined where no record has ever been here. */
  get highestId(): bigint | undefined {
    return this.#changes.highest;
  }

  /** Names the state of the records: what was made of them stays true where it is the same. */
  get version(): number {
    return this.#changes.version;
  }

  get(id: bigint): R | undefined {
    const { replaced, removed, added } = this.#changes;
    const position = this.#positionOf(id);
    if (position < 0) return added[this.#addedPositionOf(id)];
    const record = replaced?.get(id);
    if (record !== undefined) return record;
    return removed?.has(id) ? undefined : this.#base.at(position);
  }

  has(id: bigint): boolean {
    return this.get(id) !== undefined;
  }

  /** Puts a record in the place of the one with its id, or adds it. */
  set(record: R): void {
    const changes = this.#ownChanges();
    const id = this.#idOf(record);
    if (this.#positionOf(id) >= 0) {
      changes.removed?.delete(id);
      changes.replaced ??= new Map();
      changes.replaced.set(id, record);
    } else {
      const position = this.#firstAdded(id);
      const there = changes.added[position];
      if (there === undefined) changes.added.push(record);
      else changes.added.splice(position, this.#idOf(there) === id ? 1 : 0, record);
    }
    if (changes.highest === undefined || id > changes.highest) changes.highest = id;
    changes.version = ++lastVersion;
  }

  /** @returns whether there was a record with this id */
  delete(id: bigint): boolean {
    if (!this.has(id)) return false;
    const changes = this.#ownChanges();
    if (this.#positionOf(id) >= 0) {
      changes.replaced?.delete(id);
      changes.removed ??= new Set();
      changes.removed.add(id);
    } else changes.added.splice(this.#addedPositionOf(id), 1);
    changes.version = ++lastVersion;
    return true;
  }

  /** Removes the records with these ids in one pass. */
  deleteAll(ids: ReadonlySet<bigint>): void {
    const known = [...ids].filter((id) => this.has(id));
    if (known.length === 0) return;
    const changes = this.#ownChanges();
    for (const id of known) {
      if (this.#positionOf(id) < 0) continue;
      changes.replaced?.delete(id);
      changes.removed ??= new Set();
      changes.removed.add(id);
    }
    changes.added = changes.added.filter((record) => !ids.has(this.#idOf(record)));
    changes.version = ++lastVersion;
  }

  /** Removes every record. The highest id ever used stays. */
  clear(): void {
    this.#base = { size: 0, at: nothingAt, idAt: nothingAt };
    this.#changes = noChanges(this.#changes.highest);
    this.#shared = false;
  }

  /** Holds from now on what another collection holds, and shares nothing with it afterwards. */
  restore(other: Collection<R>): void {
    this.#base = other.#base;
    this.#changes = other.#changes;
    this.#shared = true;
    other.#shared = true;
  }

  /** The records with ids above `after`, in ascending order of their ids. */
  *ascending(after?: bigint): Generator<R> {
    const base = this.#base;
    const { added } = this.#changes;
    let position = after === undefined ? 0 : this.#firstInBase(after + 1n);
    let next = after === undefined ? 0 : this.#firstAdded(after + 1n);
    while (position < base.size || next < added.length) {
      const beside = added[next];
      if (
        beside === undefined ||
        (position < base.size && base.idAt(position) < this.#idOf(beside))
      ) {
        const record = this.#inBase(position);
        if (record !== undefined) yield record;
        position += 1;
      } else {
        yield beside;
        next += 1;
      }
    }
  }

  /** The records with ids below `before`, in descending order of their ids. */
  *descending(before?: bigint): Generator<R> {
    const base = this.#base;
    const { added } = this.#changes;
    let position = (before === undefined ? base.size : this.#firstInBase(before)) - 1;
    let next = (before === undefined ? added.length : this.#firstAdded(before)) - 1;
    while (position >= 0 || next >= 0) {
      const beside = added[next];
      if (beside === undefined || (position >= 0 && base.idAt(position) > this.#idOf(beside))) {
        const record = this.#inBase(position);
        if (record !== undefined) yield record;
        position -= 1;
      } else {
        yield beside;
        next -= 1;
      }
    }
  }

  /** What the collection started from: shared with every fork, and never changed. */
  get base(): Base<R> {
    return this.#base;
  }

  /** The records that differ from the base, in any order. */
  *changed(): Generator<R> {
    if (this.#changes.replaced !== undefined) yield* this.#changes.replaced.values();
    yield* this.#changes.added;
  }

  /**
   * The records in runs, those of the base first, so that what was made of a run that nobody has
   * changed can be kept.
   *
   * @param length positions of the base that a run covers
   */
  *runs(length: number): Generator<Run<R>> {
    const { replaced, removed, added } = this.#changes;
    const changed = new Set<number>();
    for (const ids of [replaced?.keys(), removed]) {
      for (const id of ids ?? []) changed.add(Math.floor(this.#positionOf(id) / length));
    }
    for (let position = 0; position < this.#base.size; position += length) {
      const isChanged = changed.has(position / length);
      const records = this.#between(position, position + length);
      yield { position: isChanged ? undefined : position, records };
    }
    yield { position: undefined, records: added };
  }

  /** What now stands in the place of some records of the base. */
  *#between(position: number, end: number): Generator<R> {
    for (let at = position; at < Math.min(end, this.#base.size); at += 1) {
      const record = this.#inBase(at);
      if (record !== undefined) yield record;
    }
  }

  /** A collection with the same records that shares nothing afterwards. */
  fork(): Collection<R> {
    const fork = new Collection(this.#base, this.#idOf);
    fork.restore(this);
    return fork;
  }

  #ownChanges(): Changes<R> {
    if (this.#shared) {
      const { replaced, removed, added } = this.#changes;
      this.#changes = {
        ...this.#changes,
        replaced: replaced && new Map(replaced),
        removed: removed && new Set(removed),
        added: [...added],
      };
      this.#shared = false;
    }
    return this.#changes;
  }

  /** What now stands in the place of a record of the base, if anything. */
  #inBase(position: number): R | undefined {
    const { replaced, removed } = this.#changes;
    if (replaced === undefined && removed === undefined) return this.#base.at(position);
    const id = this.#base.idAt(position);
    return removed?.has(id) ? undefined : (replaced?.get(id) ?? this.#base.at(position));
  }

  /** The position of an id in the base, or -1. */
  #positionOf(id: bigint): number {
    const base = this.#base;
    if (base.size === 0 || id > base.idAt(base.size - 1)) return -1;
    // Ids mostly count up from the first without a gap, which makes the position a subtraction.
    // Rounded ids make a guess that may be wrong, as a gap does.
    const guess = Number(id) - Number(base.idAt(0));
    if (guess >= 0 && guess < base.size && base.idAt(guess) === id) return guess;
    const position = lowerBound(base.size, base.idAt, id);
    return position < base.size && base.idAt(position) === id ? position : -1;
  }

  /** The position of an id among the added records, or -1. */
  #addedPositionOf(id: bigint): number {
    const { added } = this.#changes;
    const last = added.at(-1);
    if (last === undefined || id > this.#idOf(last)) return -1;
    const position = this.#firstAdded(id);
    const record = added[position];
    return record !== undefined && this.#idOf(record) === id ? position : -1;
  }

  /** The first position in the base whose id is not below `id`. */
  #firstInBase(id: bigint): number {
    return lowerBound(this.#base.size, this.#base.idAt, id);
  }

  /** The first position among the added records whose id is not below `id`. */
  #firstAdded(id: bigint): number {
    const { added } = this.#changes;
    const last = added.at(-1);
    if (last === undefined || this.#idOf(last) < id) return added.length;
    const idAt = (position: number): bigint => {
      const record = added[position];
      return record === undefined ? id : this.#idOf(record);
    };
    return lowerBound(added.length, idAt, id);
  }
}

function nothingAt(position: number): never {
  throw new RangeError(`There is no record at ${position}.`);
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
