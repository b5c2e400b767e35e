import type { ChangedParts } from '../base.ts';
import { Collection } from '../collection.ts';
import type { CollectionChange, Reversible } from './store-change.ts';

/** A collection that records what changes, so that the change can be kept and undone. */
export class RecordedCollection<R extends object> extends Collection<R> {
  /** The records that `start` stands for in changes, if anything does. */
  start: Collection<R> | undefined;
  /** The records before, by id; undefined for those that did not exist. */
  #before = new Map<bigint, R | undefined>();
  /** The collection before it was first replaced as a whole. Later changes need no notes. */
  #whole: Collection<R> | undefined;
  #highest: bigint | undefined;

  constructor(from: Collection<R>, start?: Collection<R>) {
    super(from.base, from.idOf);
    super.restore(from);
    this.start = start;
  }

  override set(record: R): void {
    this.#note(this.idOf(record));
    super.set(record);
  }

  override deleteAll(ids: ReadonlySet<bigint>): void {
    for (const id of ids) this.#note(id);
    super.deleteAll(ids);
  }

  override changeAll(change: (record: R) => R, parts: ChangedParts): void {
    this.#noteWhole();
    super.changeAll(change, parts);
  }

  override clear(): void {
    this.#noteWhole();
    super.clear();
  }

  override restore(other: Collection<R>): void {
    this.#noteWhole();
    super.restore(other);
  }

  /** Applies a recorded change, without recording it again. */
  apply({ from, remove = [], set = [], highest }: CollectionChange<R>): void {
    if (from !== undefined) super.restore(from === 'start' ? this.#startOf() : from);
    super.deleteAll(new Set(remove));
    for (const record of set) super.set(record);
    if (highest !== undefined) this.highestId = highest ?? undefined;
  }

  /** Returns what changed since the last call; undefined if nothing did. */
  take(): Reversible<CollectionChange<R>> | undefined {
    const [before, whole] = [this.#before, this.#whole];
    if (before.size === 0 && whole === undefined) return undefined;
    this.#before = new Map();
    this.#whole = undefined;
    if (whole !== undefined && whole.base !== this.base) {
      const { inverse } = differenceOf(before, whole);
      const change = this.#fromStart() ?? { from: this.fork() };
      return { change, inverse: { ...inverse, from: whole, highest: this.#highest ?? null } };
    }
    for (const id of whole?.idsUnlike(this) ?? []) {
      if (!before.has(id)) before.set(id, whole?.get(id));
    }
    const { change, inverse } = differenceOf(before, this);
    const isSame = this.highestId === this.#highest;
    if (isSame && change.remove.length + change.set.length === 0) return undefined;
    if (isSame) return { change, inverse };
    return {
      change: { ...change, highest: this.highestId ?? null },
      inverse: { ...inverse, highest: this.#highest ?? null },
    };
  }

  /** The difference from the start, if the records are over the same base. */
  #fromStart(): CollectionChange<R> | undefined {
    const { start } = this;
    if (start === undefined || start.base !== this.base) return undefined;
    const ids = [...this.idsUnlike(start)];
    const { change } = differenceOf(new Map(ids.map((id) => [id, start.get(id)])), this);
    return { from: 'start', ...change, highest: this.highestId ?? null };
  }

  #note(id: bigint): void {
    if (this.#whole !== undefined || this.#before.has(id)) return;
    if (this.#before.size === 0) this.#highest = this.highestId;
    this.#before.set(id, this.get(id));
  }

  #noteWhole(): void {
    if (this.#whole !== undefined) return;
    if (this.#before.size === 0) this.#highest = this.highestId;
    this.#whole = this.fork();
  }

  #startOf(): Collection<R> {
    if (this.start === undefined) throw new Error('The store does not know its first records.');
    return this.start;
  }
}

interface Difference<R> {
  readonly remove: bigint[];
  readonly set: R[];
}

/** How a collection differs from its records before, by id. */
function differenceOf<R extends object>(
  before: ReadonlyMap<bigint, R | undefined>,
  now: Collection<R>,
): Reversible<Difference<R>> {
  const change: Difference<R> = { remove: [], set: [] };
  const inverse: Difference<R> = { remove: [], set: [] };
  for (const [id, was] of before) {
    const is = now.get(id);
    if (is === was) continue;
    if (is === undefined) change.remove.push(id);
    else change.set.push(is);
    if (was === undefined) inverse.remove.push(id);
    else inverse.set.push(was);
  }
  return { change, inverse };
}
