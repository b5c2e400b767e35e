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

export interface RecordsChange<R> {
  readonly remove?: readonly bigint[] | undefined;
  readonly set?: readonly R[] | undefined;
  /** The highest id ever used, if it changed; null if there never was a record. */
  readonly highestId?: bigint | null | undefined;
}

/** Children of a node. Smaller nodes make a changed copy cheaper and a larger tree slower. */
const NODE_SIZE = 16;

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
  readonly #lists: ListCache<R>;

  private constructor(
    tree: Tree<R>,
    idOf: (record: R) => bigint,
    highestId: bigint | undefined,
    lists: ListCache<R>,
  ) {
    this.#tree = tree;
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
    return this.#tree.size;
  }

  get(id: bigint): R | undefined {
    return this.#tree.get(id);
  }

  has(id: bigint): boolean {
    return this.#tree.has(id);
  }

  with(record: R): Records<R> {
    return this.withAll([record]);
  }

  /** The records after some are added, or replace those with their ids. */
  withAll(records: Iterable<R>): Records<R> {
    const tree = this.#tree.clone();
    let highest = this.highestId;
    for (const record of records) {
      const id = this.idOf(record);
      tree.set(id, record);
      if (highest === undefined || id > highest) highest = id;
    }
    return new Records(tree, this.idOf, highest, this.#lists);
  }

  without(ids: Iterable<bigint>): Records<R> {
    const tree = this.#tree.clone();
    for (const id of ids) tree.delete(id);
    return new Records(tree, this.idOf, this.highestId, this.#lists);
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

  /** The records after a change, which `changeTo` gives. */
  apply({ remove = [], set = [], highestId }: RecordsChange<R>): Records<R> {
    const after = this.without(remove).withAll(set);
    if (highestId === undefined) return after;
    return new Records(after.#tree, this.idOf, highestId ?? undefined, this.#lists);
  }

  /** The difference to other records; undefined if there is none. Visits only what differs. */
  changeTo(other: Records<R>): RecordsChange<R> | undefined {
    if (other === this) return undefined;
    const remove: bigint[] = [];
    const set: R[] = [];
    diffAgainst<bigint, R, never>(
      this.#tree,
      other.#tree,
      (id) => void remove.push(id),
      (_id, record) => void set.push(record),
      (_id, _before, record) => void set.push(record),
    );
    const { highestId } = other;
    const isSame = highestId === this.highestId;
    if (isSame && remove.length + set.length === 0) return undefined;
    return {
      ...(remove.length > 0 && { remove }),
      ...(set.length > 0 && { set }),
      ...(!isSame && { highestId: highestId ?? null }),
    };
  }

  /** The records with ids above `after`, by ascending id. */
  *ascending(after?: bigint): Generator<R> {
    const from = after === undefined ? undefined : after + 1n;
    for (const [, record] of this.#tree.entries(from, [])) yield record;
  }

  /** The records with ids below `before`, by descending id. */
  *descending(before?: bigint): Generator<R> {
    const from = before === undefined ? undefined : before - 1n;
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
