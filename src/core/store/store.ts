import type {
  Animal,
  CollectionName,
  InventoryEntry,
  Order,
  StoredRecord,
} from '../contract/records.ts';

export interface ListText {
  readonly text: string | Uint8Array;
  /** The id after which the next page begins; undefined without a next page or a cursor. */
  readonly next?: bigint | undefined;
  /** How many records there are on all pages, if the reply shows it. */
  readonly total?: number | undefined;
}

/** Records in a chunk. Fewer make a changed copy cheaper, but the list of chunks longer. */
const CHUNK_SIZE = 128;

/**
 * How many changed records may wait before they are put into chunks. The journal remembers states,
 * so copying a chunk for each write would make more garbage than the write is worth.
 */
const MAX_WRITTEN = 16;

/** Chunks of records by ascending id. No chunk is empty. */
type Chunks<R> = readonly (readonly R[])[];

/** Finds the position of a record, or where it would be inserted. */
function locate<R>(chunks: Chunks<R>, id: bigint, idOf: (record: R) => bigint) {
  let at = 0;
  let end = chunks.length;
  while (at + 1 < end) {
    const middle = (at + end) >> 1;
    const first = chunks[middle]?.[0];
    if (first !== undefined && idOf(first) <= id) at = middle;
    else end = middle;
  }
  const chunk = chunks[at] ?? NOTHING;
  let index = 0;
  end = chunk.length;
  while (index < end) {
    const middle = (index + end) >> 1;
    const record = chunk[middle];
    if (record !== undefined && idOf(record) < id) index = middle + 1;
    else end = middle;
  }
  const record = chunk[index];
  const found = record !== undefined && idOf(record) === id ? record : undefined;
  return { at, chunk, index, found };
}

/** Inserts or replaces records. Copies each affected chunk once. */
function put<R>(chunks: Chunks<R>, records: Iterable<R>, idOf: (record: R) => bigint): Chunks<R> {
  const after = [...chunks];
  const copies = new Set<readonly R[]>();
  const isCopy = (chunk: readonly R[]): chunk is R[] => copies.has(chunk);
  for (const record of records) {
    const { at, chunk, index, found } = locate(after, idOf(record), idOf);
    const copy = isCopy(chunk) ? chunk : [...chunk];
    copies.add(copy);
    copy.splice(index, found === undefined ? 0 : 1, record);
    after[at] = copy;
    if (copy.length <= CHUNK_SIZE) continue;
    // Records that are added in ascending order leave full chunks behind.
    const half = index === CHUNK_SIZE ? index : CHUNK_SIZE / 2;
    after.splice(at + 1, 0, copy.splice(half));
  }
  return after;
}

/** The records of those chunks that `others` does not have. */
function listUnshared<R>(chunks: Chunks<R>, others: Chunks<R>): readonly R[] {
  const shared = new Set(others);
  const none: readonly R[] = [];
  return none.concat(...chunks.filter((chunk) => !shared.has(chunk)));
}

/** Records sorted by id. Immutable: a changed copy shares all unchanged chunks. */
export class Records<R extends object> {
  readonly idOf: (record: R) => bigint;
  /** The highest id ever used, even by a removed record; undefined if there never was one. */
  readonly highestId: bigint | undefined;
  readonly size: number;
  #chunks: Chunks<R>;
  /** Changed records that are not in chunks yet. They win; of the same id, the last does. */
  #written: readonly R[];
  readonly #lists: ListCache<R>;

  private constructor(
    idOf: (record: R) => bigint,
    highestId: bigint | undefined,
    lists: ListCache<R>,
    size: number,
    chunks: Chunks<R>,
    written: readonly R[] = NOTHING,
  ) {
    this.idOf = idOf;
    this.highestId = highestId;
    this.size = size;
    this.#chunks = chunks;
    this.#written = written;
    this.#lists = lists;
  }

  /** @param records in any order; the last one of an id wins */
  static of<R extends object>(records: Iterable<R>, idOf: (record: R) => bigint): Records<R> {
    return new Records(idOf, undefined, new ListCache<R>(), 0, []).withAll(records);
  }

  #copy(
    size: number,
    chunks: Chunks<R>,
    written: readonly R[] = NOTHING,
    highestId = this.highestId,
  ): Records<R> {
    return new Records(this.idOf, highestId, this.#lists, size, chunks, written);
  }

  /** All chunks, after moving the waiting records into them. That is invisible from outside. */
  #all(): Chunks<R> {
    if (this.#written.length > 0) this.#chunks = put(this.#chunks, this.#written, this.idOf);
    this.#written = NOTHING;
    return this.#chunks;
  }

  get(id: bigint): R | undefined {
    const { idOf } = this;
    const written = this.#written.findLast((record) => idOf(record) === id);
    return written ?? locate(this.#chunks, id, idOf).found;
  }

  has(id: bigint): boolean {
    return this.get(id) !== undefined;
  }

  /** Whether it has this very record or an equal one. */
  holds(record: R): boolean {
    const known = this.get(this.idOf(record));
    return known !== undefined && hasSameFields(known, record);
  }

  with(record: R): Records<R> {
    const id = this.idOf(record);
    const known = this.get(id);
    if (known !== undefined && hasSameFields(known, record)) return this;
    const size = known === undefined ? this.size + 1 : this.size;
    const { highestId } = this;
    const highest = highestId === undefined || id > highestId ? id : highestId;
    return this.#written.length < MAX_WRITTEN
      ? this.#copy(size, this.#chunks, this.#written.concat(record), highest)
      : this.#copy(size, this.#all(), [record], highest);
  }

  withAll(records: Iterable<R>): Records<R> {
    const chunks = put(this.#all(), records, this.idOf);
    const size = chunks.reduce((sum, { length }) => sum + length, 0);
    const last = chunks.at(-1)?.at(-1);
    const { highestId } = this;
    const isHighest = last && (highestId === undefined || this.idOf(last) > highestId);
    return this.#copy(size, chunks, NOTHING, isHighest ? this.idOf(last) : highestId);
  }

  without(ids: readonly bigint[]): Records<R> {
    let { size } = this;
    const chunks = ids.reduce((left, id) => {
      const { at, chunk, index, found } = locate(left, id, this.idOf);
      if (found === undefined) return left;
      size -= 1;
      const kept = chunk.toSpliced(index, 1);
      return kept.length > 0 ? left.with(at, kept) : left.toSpliced(at, 1);
    }, this.#all());
    return size === this.size ? this : this.#copy(size, chunks);
  }

  withHighestId(highestId: bigint | undefined): Records<R> {
    return new Records(this.idOf, highestId, this.#lists, this.size, this.#all());
  }

  /** A copy without records. Its `highestId` stays. */
  cleared(): Records<R> {
    return this.size === 0 ? this : this.#copy(0, []);
  }

  /** @param change returns the record or a changed copy with the same id */
  map(change: (record: R) => R): Records<R> {
    const before = this.#all();
    const chunks = before.map((chunk) => {
      const changed = chunk.map(change);
      const isSame = chunk.every((record, at) => hasSameFields(record, changed[at] ?? record));
      return isSame ? chunk : changed;
    });
    const isSame = chunks.every((chunk, at) => chunk === before[at]);
    return isSame ? this : this.#copy(this.size, chunks);
  }

  /** The ids of added, removed and changed records. An equal copy is no change. */
  changedIds(other: Records<R>, onlyHere: (record: R) => void = () => {}): readonly bigint[] {
    const own = listUnshared(this.#all(), other.#all());
    const others = listUnshared(other.#chunks, this.#chunks);
    const ids: bigint[] = [];
    let at = 0;
    for (const record of own) {
      if (record === others[at]) {
        at += 1;
        continue;
      }
      const id = this.idOf(record);
      let another = others[at];
      while (another !== undefined && this.idOf(another) < id) {
        ids.push(this.idOf(another));
        at += 1;
        another = others[at];
      }
      const isThere = another !== undefined && this.idOf(another) === id;
      if (isThere) at += 1;
      if (another === record) continue;
      onlyHere(record);
      if (!isThere || another === undefined || !hasSameFields(record, another)) ids.push(id);
    }
    return [...ids, ...others.slice(at).map(this.idOf)];
  }

  *ascending(after?: bigint): Generator<R> {
    const chunks = this.#all();
    const next = after === undefined ? undefined : locate(chunks, after + 1n, this.idOf);
    if (next !== undefined) yield* next.chunk.slice(next.index);
    for (let at = next === undefined ? 0 : next.at + 1; at < chunks.length; at += 1)
      yield* chunks[at] ?? NOTHING;
  }

  *descending(before?: bigint): Generator<R> {
    const chunks = this.#all();
    const next = before === undefined ? undefined : locate(chunks, before, this.idOf);
    if (next !== undefined) yield* next.chunk.slice(0, next.index).reverse();
    for (let at = (next?.at ?? chunks.length) - 1; at >= 0; at -= 1)
      yield* chunks[at]?.toReversed() ?? NOTHING;
  }

  /** The text of a list, cached if `form` (by identity) and `key` are those of the last call. */
  list(form: object, key: string, write: () => ListText): ListText {
    return this.#lists.get(this, form, key, write);
  }
}

const NOTHING: readonly never[] = [];

/** In characters or bytes. A longer list is not cached. */
const MAX_KEPT_TEXT = 8 * 1024 ** 2;

/** The last text of a list. All versions of a collection share it, to save memory. */
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

/** Whether two objects have equal fields. One that is undefined counts as none. */
export function hasSameFields(one: object, other: object): boolean {
  return one === other || (hasFieldsOf(one, other) && hasFieldsOf(other, one));
}

function hasFieldsOf(one: object, other: object): boolean {
  return Object.entries(other).every(([name, value]) => Reflect.get(one, name) === value);
}

export const EMPTY_STORE: Store = createStore({});
