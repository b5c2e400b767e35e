import btree from 'sorted-btree';
import difference from 'sorted-btree/extended/diffAgainst.js';

const BTree = btree.default;
const diffAgainst = difference.default;

/** A JSON array, and the records in it. */
export interface RecordList<R> {
  readonly text: string | Buffer;
  readonly records: readonly R[];
  /** The id of the last record of a page, if more follow and pages are found by it. */
  readonly next?: bigint | undefined;
  /** How many records there are on all pages, if that is shown. */
  readonly total?: number | undefined;
}

/** Children of a node. Smaller nodes make a changed copy cheaper and a larger tree slower. */
const NODE_SIZE = 16;

/**
 * Records that wait to be added to the tree. Copying a path of it for each create makes so much garbage
 * that a create takes half as long again.
 */
const MAX_TAIL = 32;

function compareIds(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

type Tree<R> = InstanceType<typeof BTree<bigint, R>>;

/**
 * Records by ascending id. Immutable: a change gives another value, which shares everything that it
 * does not change.
 */
export class Records<R extends object> {
  readonly idOf: (record: R) => bigint;
  /** The highest id ever used, removed records included; undefined if there never was a record. */
  readonly highestId: bigint | undefined;
  readonly #tree: Tree<R>;
  /** The newest records, with higher ids than all in the tree. */
  readonly #tail: readonly R[];
  readonly #lists: ListCache<R>;

  private constructor(
    tree: Tree<R>,
    idOf: (record: R) => bigint,
    highestId: bigint | undefined,
    lists: ListCache<R>,
    tail: readonly R[] = NO_TAIL,
  ) {
    this.#tree = tree;
    this.#tail = tail;
    this.idOf = idOf;
    this.highestId = highestId;
    this.#lists = lists;
  }

  /** The records of a list in any order. Of records with the same id, the last one counts. */
  static of<R extends object>(records: Iterable<R>, idOf: (record: R) => bigint): Records<R> {
    const tree = new BTree<bigint, R>(undefined, compareIds, NODE_SIZE);
    for (const record of records) tree.set(idOf(record), record);
    return new Records(tree, idOf, tree.maxKey(), new ListCache());
  }

  get size(): number {
    return this.#tree.size + this.#tail.length;
  }

  get(id: bigint): R | undefined {
    return this.#tree.get(id) ?? this.#tail.find((record) => this.idOf(record) === id);
  }

  has(id: bigint): boolean {
    return this.get(id) !== undefined;
  }

  with(record: R): Records<R> {
    const id = this.idOf(record);
    const isNewest = this.highestId === undefined || id > this.highestId;
    if (!isNewest || this.#tail.length === MAX_TAIL) return this.withAll([record]);
    return new Records(this.#tree, this.idOf, id, this.#lists, [...this.#tail, record]);
  }

  /** A tree of all records, which may be changed. */
  #copy(): Tree<R> {
    const tree = this.#tree.clone();
    for (const record of this.#tail) tree.set(this.idOf(record), record);
    return tree;
  }

  /** The records after some are added, or replace those with their ids. */
  withAll(records: Iterable<R>): Records<R> {
    const tree = this.#copy();
    let highest = this.highestId;
    for (const record of records) {
      const id = this.idOf(record);
      tree.set(id, record);
      if (highest === undefined || id > highest) highest = id;
    }
    return new Records(tree, this.idOf, highest, this.#lists);
  }

  without(ids: Iterable<bigint>): Records<R> {
    const tree = this.#copy();
    for (const id of ids) tree.delete(id);
    return new Records(tree, this.idOf, this.highestId, this.#lists);
  }

  /** The same records where an id was used that none of them has any more. */
  withHighestId(highestId: bigint | undefined): Records<R> {
    return new Records(this.#copy(), this.idOf, highestId, this.#lists);
  }

  /** No records; the highest id ever used stays. */
  cleared(): Records<R> {
    const none = new BTree<bigint, R>(undefined, compareIds, NODE_SIZE);
    return new Records(none, this.idOf, this.highestId, this.#lists);
  }

  /** The records after each was changed. `change` keeps ids, and returns what it leaves as it is. */
  map(change: (record: R) => R): Records<R> {
    const changed: R[] = [];
    for (const record of this.ascending()) {
      const after = change(record);
      if (after !== record) changed.push(after);
    }
    return changed.length === 0 ? this : this.withAll(changed);
  }

  /** How many records differ from those of `other`, added and removed ones included. */
  countChanges(other: Records<R>): number {
    if (other === this) return 0;
    let count = 0;
    const add = (): void => {
      count += 1;
    };
    diffAgainst<bigint, R, never>(this.#copy(), other.#copy(), add, add, add);
    return count;
  }

  /** The records with ids above `after`, by ascending id. */
  *ascending(after?: bigint): Generator<R> {
    const from = after === undefined ? undefined : after + 1n;
    for (const [, record] of this.#tree.entries(from, [])) yield record;
    for (const record of this.#tail) {
      if (from === undefined || this.idOf(record) >= from) yield record;
    }
  }

  /** The records with ids below `before`, by descending id. */
  *descending(before?: bigint): Generator<R> {
    const from = before === undefined ? undefined : before - 1n;
    for (const record of this.#tail.toReversed()) {
      if (from === undefined || this.idOf(record) <= from) yield record;
    }
    for (const [, record] of this.#tree.entriesReversed(from, [])) yield record;
  }

  /**
   * A list of records, or the one that was written last if that is the same.
   *
   * @param form what else than the records and `key` decides the list, compared by identity
   */
  list(form: object, key: string, write: () => RecordList<R>): RecordList<R> {
    return this.#lists.get(this, form, key, write);
  }
}

const NO_TAIL: readonly never[] = [];

/** In characters or bytes. A longer list is written anew for each request. */
const MAX_KEPT_TEXT = 8 * 1024 ** 2;

/**
 * The list that was written last. All versions of a collection share one: a version that is only
 * remembered, such as the state before an exchange, holds no text.
 */
class ListCache<R extends object> {
  #last: { of: Records<R>; form: object; key: string; list: RecordList<R> } | undefined;

  get(of: Records<R>, form: object, key: string, write: () => RecordList<R>): RecordList<R> {
    const last = this.#last;
    if (last?.of === of && last.form === form && last.key === key) return last.list;
    const list = write();
    this.#last = list.text.length > MAX_KEPT_TEXT ? undefined : { of, form, key, list };
    return list;
  }
}
