import btree from 'sorted-btree';
import difference from 'sorted-btree/extended/diffAgainst.js';

const BTree = btree.default;
const diffAgainst = difference.default;

/** Writes a record as JSON; undefined leaves it out of a list. */
type Writer<R> = (record: R) => string | undefined;

/** A JSON array, and the records in it. */
export interface RecordList<R> {
  readonly text: string | Buffer;
  readonly records: readonly R[];
  /** The id of the last record of a page, if more follow and pages are found by it. */
  readonly next?: bigint | undefined;
  /** How many records there are on all pages, if that is shown. */
  readonly total?: number | undefined;
}

/** The difference between two sets of records. */
export interface RecordsChange<R> {
  readonly remove?: readonly bigint[] | undefined;
  readonly set?: readonly R[] | undefined;
  /** The highest id ever used, if it changed; null if there never was a record. */
  readonly highestId?: bigint | null | undefined;
}

/** Children of a node. Smaller nodes make a changed copy cheaper and a larger tree slower. */
const NODE_SIZE = 16;

/** The most records that wait to be added to the tree. */
const MOST_NEWEST = 32;

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
  /** Records not yet in the tree. Later values share this list: the first `#added` are of this one. */
  readonly #growing: R[];
  readonly #added: number;
  #lists: Map<number | string, RecordList<R>> | undefined;
  /** The form of the lists that are kept: a server has one at a time, or few. */
  #form: object | undefined;

  private constructor(
    tree: Tree<R>,
    idOf: (record: R) => bigint,
    highestId: bigint | undefined,
    newest: R[] = [],
    added = newest.length,
  ) {
    this.#tree = tree;
    this.idOf = idOf;
    this.highestId = highestId;
    this.#growing = newest;
    this.#added = added;
  }

  /** The records of a list in any order. Of records with the same id, the last one counts. */
  static of<R extends object>(records: Iterable<R>, idOf: (record: R) => bigint): Records<R> {
    const tree = new BTree<bigint, R>(undefined, compareIds, NODE_SIZE);
    for (const record of records) tree.set(idOf(record), record);
    return new Records(tree, idOf, tree.maxKey());
  }

  get size(): number {
    return this.#tree.size + this.#added;
  }

  get(id: bigint): R | undefined {
    return this.#tree.get(id) ?? this.#newest.find((it) => this.idOf(it) === id);
  }

  has(id: bigint): boolean {
    return this.get(id) !== undefined;
  }

  /**
   * The records after one is added, or replaces the one with its id. The newest ones wait in a list,
   * to be added to the tree together: copying a path of it for each costs a create 7 %.
   */
  with(record: R): Records<R> {
    const id = this.idOf(record);
    const isNewest = this.highestId === undefined || id > this.highestId;
    if (!isNewest || this.#added === MOST_NEWEST) return this.apply({ set: [record] });
    const newest = this.#growing.length === this.#added ? this.#growing : [...this.#newest];
    newest.push(record);
    return new Records(this.#tree, this.idOf, id, newest);
  }

  /** The records that are not in the tree, which have the highest ids. */
  get #newest(): readonly R[] {
    return this.#growing.slice(0, this.#added);
  }

  /** A tree of all records, which may be changed. */
  #copy(): Tree<R> {
    const tree = this.#tree.clone();
    for (const record of this.#newest) tree.set(this.idOf(record), record);
    return tree;
  }

  /** The records without those of some ids. */
  without(ids: Iterable<bigint>): Records<R> {
    return this.apply({ remove: [...ids] });
  }

  /** No records; the highest id ever used stays. */
  cleared(): Records<R> {
    const none = new BTree<bigint, R>(undefined, compareIds, NODE_SIZE);
    return new Records(none, this.idOf, this.highestId);
  }

  /** The records after each was changed. `change` keeps ids, and returns what it leaves as it is. */
  map(change: (record: R) => R): Records<R> {
    const tree = this.#copy();
    for (const record of this.ascending()) {
      const changed = change(record);
      if (changed !== record) tree.set(this.idOf(record), changed);
    }
    return new Records(tree, this.idOf, this.highestId);
  }

  /** The records after a change, which `changeTo` gives. */
  apply({ remove = [], set = [], highestId }: RecordsChange<R>): Records<R> {
    const tree = this.#copy();
    for (const id of remove) tree.delete(id);
    let highest = this.highestId;
    for (const record of set) {
      const id = this.idOf(record);
      tree.set(id, record);
      if (highest === undefined || id > highest) highest = id;
    }
    if (highestId !== undefined) highest = highestId ?? undefined;
    return new Records(tree, this.idOf, highest);
  }

  /** The difference to other records; undefined if there is none. Visits only what differs. */
  changeTo(other: Records<R>): RecordsChange<R> | undefined {
    if (other === this) return undefined;
    const remove: bigint[] = [];
    const set: R[] = [];
    const isGrown = this.#newest.every((record, at) => record === other.#newest[at]);
    if (isGrown && this.#tree === other.#tree) {
      set.push(...other.#newest.slice(this.#newest.length));
    } else {
      diffAgainst<bigint, R, never>(
        this.#copy(),
        other.#copy(),
        (id) => void remove.push(id),
        (_id, record) => void set.push(record),
        (_id, _before, record) => void set.push(record),
      );
    }
    const { highestId } = other;
    const isSame = highestId === this.highestId;
    if (isSame && remove.length + set.length === 0) return undefined;
    return {
      ...(remove.length > 0 && { remove }),
      ...(set.length > 0 && { set }),
      ...(!isSame && { highestId: highestId ?? null }),
    };
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
    for (const record of this.#newest) {
      if (from === undefined || this.idOf(record) >= from) yield record;
    }
  }

  /** The records with ids below `before`, by descending id. */
  *descending(before?: bigint): Generator<R> {
    const from = before === undefined ? undefined : before - 1n;
    for (const record of this.#newest.toReversed()) {
      if (from === undefined || this.idOf(record) <= from) yield record;
    }
    for (const [, record] of this.#tree.entriesReversed(from, [])) yield record;
  }

  /** All records as a JSON array, written at the first use. */
  list(write: Writer<R>): RecordList<R> {
    return this.page(write, 'all', () => writeList(this.ascending(), write));
  }

  /**
   * A page of the records, written at its first use.
   *
   * @param form what writes it, the same value for the same text, such as a module's own function
   * @param key which page it is
   */
  page(form: object, key: number | string, write: () => RecordList<R>): RecordList<R> {
    const known = form === this.#form ? this.#lists?.get(key) : undefined;
    if (known !== undefined) return known;
    const list = write();
    const isFull = this.#lists === undefined || this.#lists.size >= MOST_PAGES;
    if (isFull || form !== this.#form) this.#lists = new Map();
    this.#form = form;
    this.#lists?.set(key, list);
    return list;
  }
}

/** Clients ask for few different pages; `limit` alone allows a hundred. */
const MOST_PAGES = 32;

/** In characters. A longer text is written to a socket faster as bytes. */
const LONGEST_STRING = 8192;

/** Writes records as a JSON array. */
export function writeList<R>(source: Iterable<R>, write: Writer<R>): RecordList<R> {
  const records: R[] = [];
  let text = '[';
  for (const record of source) {
    const written = write(record);
    if (written === undefined) continue;
    text += records.length === 0 ? written : `,${written}`;
    records.push(record);
  }
  text += ']';
  return { text: text.length > LONGEST_STRING ? Buffer.from(text) : text, records };
}
