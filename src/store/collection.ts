import {
  type Base,
  type ChangedParts,
  changedBase,
  EMPTY_BASE,
  firstNotBelow,
  positionIn,
  type Subset,
} from './base.ts';
import {
  type ChangedRun,
  type Changes,
  changedBy,
  copyOf,
  differingIds,
  firstVersionOf,
  nextVersion,
  noChanges,
  ownRun,
  RUN_LENGTH,
  type Run,
  replaceIn,
  runAt,
} from './changes.ts';
import { inOrder, lowerBound, type Slots, slotsOf } from './in-order.ts';

/** Records ordered by id, over a shared base. Forks share changes until one of them changes. */
export class Collection<R extends object> {
  #base: Base<R>;
  readonly idOf: (record: R) => bigint;
  #changes: Changes<R>;
  #shared = false;

  constructor(base: Base<R>, idOf: (record: R) => bigint) {
    this.#base = base;
    this.idOf = idOf;
    this.#changes = noChanges(base.size > 0 ? base.idAt(base.size - 1) : undefined);
  }

  get size(): number {
    return this.#base.size - this.#changes.removed + this.#changes.added.length;
  }

  /** The highest id ever used; undefined if there never was a record. */
  get highestId(): bigint | undefined {
    return this.#changes.highest;
  }

  set highestId(id: bigint | undefined) {
    this.#ownChanges().highest = id;
  }

  /** Identifies the state of the records: equal versions mean equal records. */
  get version(): number {
    return this.#changes.version;
  }

  /** Identifies the state of the first `count` records. Most changes of others leave it as it is. */
  versionOfFirst(count: number): number {
    const isOwn = this.#changes.runs?.has(0) || count > Math.min(this.#base.size, RUN_LENGTH);
    return isOwn ? this.version : firstVersionOf(this.#base);
  }

  /** The records that the collection started from. Shared with every fork. */
  get base(): Base<R> {
    return this.#base;
  }

  get(id: bigint): R | undefined {
    const position = positionIn(this.#base, id);
    return position < 0 ? this.#addedWith(id) : this.#inBase(position);
  }

  has(id: bigint): boolean {
    return this.get(id) !== undefined;
  }

  /** Replaces the record with the same id, or adds a new one. */
  set(record: R): void {
    const changes = this.#ownChanges();
    const id = this.idOf(record);
    const inBase = positionIn(this.#base, id);
    if (inBase >= 0) {
      const run = this.#touch(runAt(inBase));
      if (run.records?.has(inBase) && run.records.get(inBase) === undefined) changes.removed -= 1;
      replaceIn(run, inBase, record);
    } else {
      const { added } = changes;
      const position = this.#firstAdded(id);
      this.#touch(this.#runOf(id, position));
      if (position === added.length) added.push(record);
      else if (this.has(id)) added[position] = record;
      else {
        added.splice(position, 0, record);
        this.#touchAdded(position);
      }
    }
    if (changes.highest === undefined || id > changes.highest) changes.highest = id;
  }

  /** Removes a record. Returns whether it existed. */
  delete(id: bigint): boolean {
    if (!this.has(id)) return false;
    this.deleteAll(new Set([id]));
    return true;
  }

  /** Removes the records with these ids in one pass. */
  deleteAll(ids: ReadonlySet<bigint>): void {
    const known = [...ids].filter((id) => this.has(id));
    if (known.length === 0) return;
    const changes = this.#ownChanges();
    let fromAdded = false;
    for (const id of known) {
      const run = this.#touch(this.#runOf(id, this.#firstAdded(id)));
      const inBase = positionIn(this.#base, id);
      if (inBase < 0) fromAdded = true;
      else {
        replaceIn(run, inBase, undefined);
        changes.removed += 1;
      }
    }
    if (!fromAdded) return;
    changes.added = changes.added.filter((record) => !ids.has(this.idOf(record)));
    this.#touchAdded(0);
  }

  /** Changes every record; those of a large base whenever they are read. See `changedBase`. */
  changeAll(change: (record: R) => R, parts: ChangedParts): void {
    this.#base = changedBase(this.#base, change, parts);
    this.#changes = changedBy(this.#changes, change);
    this.#shared = false;
  }

  /** Removes every record. Keeps the highest id ever used. */
  clear(): void {
    this.#base = EMPTY_BASE;
    this.#changes = noChanges(this.#changes.highest);
    this.#shared = false;
  }

  /** Replaces the records by those of another collection. Later changes affect only one of them. */
  restore(other: Collection<R>): void {
    this.#base = other.#base;
    this.#changes = other.#changes;
    this.#shared = other.#shared = true;
  }

  /** Copies the collection at a constant cost. Later changes affect only one of them. */
  fork(): Collection<R> {
    const fork = new Collection(this.#base, this.idOf);
    fork.restore(this);
    return fork;
  }

  /** The records with ids above `after`, by ascending id. */
  ascending(after?: bigint, subset?: Subset<R>): Generator<R> {
    return this.#walk(1, after, subset);
  }

  /** The records with ids below `before`, by descending id. */
  descending(before?: bigint, subset?: Subset<R>): Generator<R> {
    return this.#walk(-1, before, subset);
  }

  /** The records that differ from the base, in any order. */
  *changed(): Generator<R> {
    for (const { records } of this.#changes.runs?.values() ?? []) {
      for (const record of records?.values() ?? []) if (record !== undefined) yield record;
    }
    yield* this.#changes.added;
  }

  /** The ids whose records may differ from those of another collection over the same base. */
  idsUnlike(other: Collection<R>): ReadonlySet<bigint> {
    return differingIds(this.#base, this.#changes, other.#changes, this.idOf);
  }

  /** All records in runs, by ascending id. */
  *runs(): Generator<Run<R>> {
    const first = firstVersionOf(this.#base);
    const { runs, added } = this.#changes;
    const inBase = this.#baseRuns;
    const count = inBase + Math.ceil(added.length / RUN_LENGTH);
    for (let index = 0; index < count; index += 1) {
      // A run of added records without a version is empty: its records belong to runs of the base.
      const version = runs?.get(index)?.version ?? (index < inBase ? first + index : undefined);
      if (version !== undefined) yield { version, records: () => this.#recordsIn(index) };
    }
  }

  get #baseRuns(): number {
    return Math.ceil(this.#base.size / RUN_LENGTH);
  }

  #recordsIn(run: number): readonly R[] {
    const base = this.#base;
    if (run >= this.#baseRuns) {
      // Added records with lower ids belong to runs of the base.
      const tail = base.size === 0 ? 0 : this.#firstAdded(base.idAt(base.size - 1) + 1n);
      const start = (run - this.#baseRuns) * RUN_LENGTH;
      return this.#changes.added.slice(Math.max(start, tail), start + RUN_LENGTH);
    }
    const from = run * RUN_LENGTH;
    const last = base.idAt(Math.min(from + RUN_LENGTH, base.size) - 1);
    const records: R[] = [];
    for (const record of this.ascending(from === 0 ? undefined : base.idAt(from - 1))) {
      if (this.idOf(record) > last) break;
      records.push(record);
    }
    return records;
  }

  /** The run of an id, given its position among the added records. */
  #runOf(id: bigint, added: number): number {
    const position = firstNotBelow(this.#base, id);
    return position < this.#base.size ? runAt(position) : this.#baseRuns + runAt(added);
  }

  /** Gives a new version to the collection and a run. */
  #touch(number: number): ChangedRun<R> {
    const changes = this.#changes;
    changes.version = nextVersion();
    changes.ordered = undefined;
    const run = ownRun(changes, number);
    run.version = changes.version;
    return run;
  }

  /** Gives new versions to the runs of added records from a position on, since records moved. */
  #touchAdded(position: number): void {
    const end = this.#baseRuns + runAt(this.#changes.added.length);
    for (let run = this.#baseRuns + runAt(position); run <= end; run += 1) this.#touch(run);
  }

  *#walk(step: 1 | -1, from: bigint | undefined, subset: Subset<R> | undefined): Generator<R> {
    const { size, idAt } = this.#base;
    if (subset === undefined) {
      const added = slotsOf(this.#changes.added, this.idOf);
      yield* inOrder({ size, idAt, at: (slot) => this.#inBase(slot) }, added, step, from);
      return;
    }
    const { positions, includes } = subset;
    const position = (slot: number): number => positions[slot] ?? size;
    const unchanged: Slots<R> = {
      size: positions.length,
      idAt: (slot) => idAt(position(slot)),
      at: (slot) => {
        const place = position(slot);
        return this.#changedAt(place)?.has(place) ? undefined : this.#base.at(place);
      },
    };
    const changed = slotsOf(this.#ordered(), this.idOf);
    for (const record of inOrder(unchanged, changed, step, from)) {
      if (includes(record)) yield record;
    }
  }

  /** The records that differ from the base, by ascending id. */
  #ordered(): readonly R[] {
    const changes = this.#changes;
    if (changes.runs === undefined) return changes.added;
    changes.ordered ??= [...this.changed()].sort((a, b) => (this.idOf(a) < this.idOf(b) ? -1 : 1));
    return changes.ordered;
  }

  #ownChanges(): Changes<R> {
    if (this.#shared) {
      this.#changes = copyOf(this.#changes);
      this.#shared = false;
    }
    return this.#changes;
  }

  /** The current record at a position of the base, if any. */
  #inBase(position: number): R | undefined {
    const records = this.#changedAt(position);
    return records?.has(position) ? records.get(position) : this.#base.at(position);
  }

  /** The changed records in the run of a position of the base. */
  #changedAt(position: number): ReadonlyMap<number, R | undefined> | undefined {
    return this.#changes.runs?.get(runAt(position))?.records;
  }

  #addedWith(id: bigint): R | undefined {
    const record = this.#changes.added[this.#firstAdded(id)];
    return record !== undefined && this.idOf(record) === id ? record : undefined;
  }

  /** The first position among the added records whose id is not below `id`. */
  #firstAdded(id: bigint): number {
    const { added } = this.#changes;
    const last = added.at(-1);
    // Most records are added at the end, which needs no search.
    if (last === undefined || id > this.idOf(last)) return added.length;
    const { size, idAt } = slotsOf(added, this.idOf);
    return lowerBound(size, idAt, id);
  }
}
