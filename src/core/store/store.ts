import btree from 'sorted-btree';
import difference from 'sorted-btree/extended/diffAgainst.js';
import type {
  Animal,
  CollectionName,
  InventoryEntry,
  Order,
  StoredRecord,
} from '../contract/records.ts';
import { INT64_MAX, INT64_MIN } from '../json.ts';

const BTree = btree.default;
const diffAgainst = difference.default;

export interface ListText {
  readonly text: string | Uint8Array;
  /** Where the next page starts, if pages are asked for by id and there is one. */
  readonly next?: bigint | undefined;
  /** Of all pages, if that is shown. */
  readonly total?: number | undefined;
}

/** Children of a node. Smaller nodes make a changed copy cheaper and a larger tree slower. */
const NODE_SIZE = 16;

/**
 * Records that wait to be written into the tree. Copying a path of it for each write costs a PATCH or a
 * create a fifth more processor time, HTTP included.
 */
const MAX_WRITTEN = 16;

function compareIds(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

type Tree<R> = InstanceType<typeof BTree<bigint, R>>;

/** Records by ascending id. Immutable: a change gives another value, which shares what stays. */
export class Records<R extends object> {
  readonly idOf: (record: R) => bigint;
  /** Ever used, so of removed records too; undefined if there never was a record. */
  readonly highestId: bigint | undefined;
  readonly #tree: Tree<R>;
  /** By ascending id. They replace those of the tree. */
  readonly #written: readonly R[];
  readonly size: number;
  readonly #lists: ListCache<R>;

  private constructor(
    tree: Tree<R>,
    idOf: (record: R) => bigint,
    highestId: bigint | undefined,
    lists: ListCache<R>,
    written: readonly R[] = NOTHING,
    size = tree.size,
  ) {
    this.#tree = tree;
    this.#written = written;
    this.size = size;
    this.idOf = idOf;
    this.highestId = highestId;
    this.#lists = lists;
  }

  /** In any order. Of records with the same id, the last one counts. */
  static of<R extends object>(records: Iterable<R>, idOf: (record: R) => bigint): Records<R> {
    const tree = new BTree<bigint, R>(undefined, compareIds, NODE_SIZE);
    for (const record of records) tree.set(idOf(record), record);
    return new Records(tree, idOf, tree.maxKey(), new ListCache());
  }

  get(id: bigint): R | undefined {
    for (const record of this.#written) if (this.idOf(record) === id) return record;
    return this.#tree.get(id);
  }

  has(id: bigint): boolean {
    return this.get(id) !== undefined;
  }

  with(record: R): Records<R> {
    if (this.#written.length === MAX_WRITTEN) return this.withAll([record]);
    const { idOf, highestId } = this;
    const id = idOf(record);
    const highest = highestId === undefined || id > highestId ? id : highestId;
    const at = this.#indexOf(id);
    const replaced = this.#written[at];
    const isReplaced = replaced !== undefined && idOf(replaced) === id;
    const written = this.#written.toSpliced(at, isReplaced ? 1 : 0, record);
    const size = isReplaced || this.#tree.has(id) ? this.size : this.size + 1;
    return new Records(this.#tree, idOf, highest, this.#lists, written, size);
  }

  #indexOf(id: bigint): number {
    const index = this.#written.findIndex((record) => this.idOf(record) >= id);
    return index === -1 ? this.#written.length : index;
  }

  #copy(): Tree<R> {
    const tree = this.#tree.clone();
    for (const record of this.#written) tree.set(this.idOf(record), record);
    return tree;
  }

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

  without(ids: readonly bigint[]): Records<R> {
    if (ids.length === 0) return this;
    const tree = this.#copy();
    for (const id of ids) tree.delete(id);
    return new Records(tree, this.idOf, this.highestId, this.#lists);
  }

  withHighestId(highestId: bigint | undefined): Records<R> {
    return new Records(this.#copy(), this.idOf, highestId, this.#lists);
  }

  /** No records; the highest id ever used stays. */
  cleared(): Records<R> {
    const none = new BTree<bigint, R>(undefined, compareIds, NODE_SIZE);
    return new Records(none, this.idOf, this.highestId, this.#lists);
  }

  /** `change` keeps ids, and returns a record that it leaves as it is. */
  map(change: (record: R) => R): Records<R> {
    const tree = this.#copy();
    let isChanged = false;
    tree.editRange(INT64_MIN, INT64_MAX, true, (_id, record) => {
      const after = change(record);
      if (after === record) return undefined;
      isChanged = true;
      return { value: after };
    });
    return isChanged ? new Records(tree, this.idOf, this.highestId, this.#lists) : this;
  }

  /** Added and removed records included; not those that were read again and are equal. */
  changedIds(other: Records<R>, onlyHere: (record: R) => void = () => {}): readonly bigint[] {
    if (other === this) return [];
    const ids: bigint[] = [];
    const add = (id: bigint): void => void ids.push(id);
    const remove = (id: bigint, record: R): void => {
      onlyHere(record);
      add(id);
    };
    const compare = (id: bigint, one: R, another: R): void => {
      onlyHere(one);
      if (!hasSameFields(one, another)) add(id);
    };
    diffAgainst<bigint, R, never>(this.#copy(), other.#copy(), remove, add, compare);
    return ids;
  }

  *ascending(after?: bigint): Generator<R> {
    const from = after === undefined ? undefined : after + 1n;
    const written = from === undefined ? this.#written : this.#written.slice(this.#indexOf(from));
    yield* this.#merge(this.#tree.entries(from, []), written, (a, b) => a < b);
  }

  *descending(before?: bigint): Generator<R> {
    const from = before === undefined ? undefined : before - 1n;
    const end = before === undefined ? this.#written.length : this.#indexOf(before);
    const written = this.#written.slice(0, end).reverse();
    yield* this.#merge(this.#tree.entriesReversed(from, []), written, (a, b) => a > b);
  }

  *#merge(
    entries: Iterable<readonly [bigint, R]>,
    written: readonly R[],
    precedes: (one: bigint, other: bigint) => boolean,
  ): Generator<R> {
    let at = 0;
    for (const [id, record] of entries) {
      let next = written[at];
      while (next !== undefined && precedes(this.idOf(next), id)) {
        yield next;
        at += 1;
        next = written[at];
      }
      if (next !== undefined && this.idOf(next) === id) {
        yield next;
        at += 1;
      } else yield record;
    }
    yield* written.slice(at);
  }

  /** Writes a list, unless it was the last one. `form` decides it too, compared by identity. */
  list(form: object, key: string, write: () => ListText): ListText {
    return this.#lists.get(this, form, key, write);
  }
}

const NOTHING: readonly never[] = [];

/** In characters or bytes: a longer list is written anew for each request. */
const MAX_KEPT_TEXT = 8 * 1024 ** 2;

/** All versions of a collection share one: those that are only remembered hold no text. */
class ListCache<R extends object> {
  #last: { of: Records<R>; form: object; key: string; list: ListText } | undefined;

  get(of: Records<R>, form: object, key: string, write: () => ListText): ListText {
    const last = this.#last;
    if (last?.of === of && last.form === form && last.key === key) return last.list;
    const list = write();
    this.#last = list.text.length > MAX_KEPT_TEXT ? undefined : { of, form, key, list };
    return list;
  }
}

export type Store = { readonly [Name in CollectionName]: Records<StoredRecord[Name]> };

export type StoreRecords = {
  readonly [Name in CollectionName]?: Iterable<StoredRecord[Name]> | undefined;
};

export const ID_NAME = {
  animals: 'id',
  inventory: 'petId',
  orders: 'id',
} as const satisfies Record<CollectionName, string>;

export function createStore({ animals = [], inventory = [], orders = [] }: StoreRecords): Store {
  return {
    animals: Records.of(animals, (animal: Animal) => animal.id),
    inventory: Records.of(inventory, (entry: InventoryEntry) => entry.petId),
    orders: Records.of(orders, (order: Order) => order.id),
  };
}

function hasSameFields(one: object, other: object): boolean {
  const fields = Object.entries(one).filter(([, value]) => value !== undefined);
  const count = Object.values(other).filter((value) => value !== undefined).length;
  return (
    fields.length === count && fields.every(([name, value]) => Reflect.get(other, name) === value)
  );
}

const RECORD_BYTES = 128;

export interface ChangeSizes {
  /** How many records differ. */
  readonly changed: { readonly [Name in CollectionName]: number };
  /** About what the records take that only the store before has. */
  readonly bytes: number;
}

export function measureChanges(before: Store, after: Store): ChangeSizes {
  let bytes = 0;
  const measure = (record: object): void => {
    bytes += RECORD_BYTES;
    for (const value of Object.values(record)) if (typeof value === 'string') bytes += value.length;
  };
  const changed = {
    animals: before.animals.changedIds(after.animals, measure).length,
    inventory: before.inventory.changedIds(after.inventory, measure).length,
    orders: before.orders.changedIds(after.orders, measure).length,
  };
  return { changed, bytes };
}

export const EMPTY_STORE: Store = createStore({});
