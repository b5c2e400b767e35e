import {
  COLLECTIONS,
  type CollectionName,
  STORED_RECORDS,
  type StoredRecord,
} from '../contract/records.ts';
import { tellInto } from '../shape/read-as.ts';
import { type Each, RECORD_SHAPES } from '../shape/record-shapes.ts';
import type { At, Shape, ShapeProblem, Tell } from '../shape/shapes.ts';
import { atOnce, inTurns, type Work } from '../work.ts';
import { indexByStatus } from './animals-by-status.ts';
import { changeEach, layersOf } from './change-each.ts';
import type { Collection } from './collection.ts';
import { findingOrders, indexByAnimal } from './orders-by-animal.ts';
import { forkStore, restoreStore, type Store, versionOf } from './store.ts';

/** Changes to one collection, in the order in which they are applied. */
export interface CollectionChanges<R> {
  readonly remove: readonly bigint[] | 'all';
  /** Changes to every existing record. */
  readonly each: readonly Each[];
  /** A record with a new id must be complete. */
  readonly set: readonly Partial<R>[];
}

export type StoreChanges = {
  readonly [Name in CollectionName]: CollectionChanges<StoredRecord[Name]>;
};

type AnyRecord = Readonly<Record<string, unknown>>;

/** The member that is the id, by collection. */
export const ID_NAME = {
  animals: 'id',
  inventory: 'petId',
  orders: 'id',
} as const satisfies Record<CollectionName, string>;

/** Each adds up to a microsecond to every read of a record. */
const MOST_LAYERS = 32;
const FEW_LAYERS = `at most ${MOST_LAYERS} changes of every record since the store was reset or replaced`;

/**
 * Merges changes into a store. Makes none of them if one leads to an incomplete record or to a petId
 * that no animal has. Removes the inventory entry and the orders of a removed animal.
 *
 * @returns the problems; none if the changes were made
 */
export function mergeInto(store: Store, changes: StoreChanges): readonly ShapeProblem[] {
  return atOnce(merging(store, changes));
}

/** The number of overtaken attempts before a merge is made at once. */
const MOST_OVERTAKEN = 3;

/**
 * `mergeInto` in turns with other requests, which may change the store meanwhile.
 *
 * @param change makes a change of the store at once
 */
export async function mergeInTurns(
  store: Store,
  changes: StoreChanges,
  change: <T>(work: () => T) => Promise<T>,
): Promise<readonly ShapeProblem[]> {
  for (let overtaken = 0; overtaken < MOST_OVERTAKEN; overtaken += 1) {
    const version = versionOf(store);
    const draft = forkStore(store);
    const problems = await inTurns(merging(draft, changes));
    // A change of every animal made a new base.
    if (problems.length === 0) await indexByStatus(draft.animals.base);
    const merged = await change(() => {
      if (versionOf(store) !== version) return false;
      if (problems.length === 0) restoreStore(store, draft);
      return true;
    });
    if (merged) return problems;
  }
  return change(() => mergeInto(store, changes));
}

/** The work of `mergeInto`. The store must not change meanwhile. */
export function* merging(
  store: Store,
  changes: StoreChanges,
  at: At = [],
): Work<readonly ShapeProblem[]> {
  const draft = forkStore(store);
  const problems: ShapeProblem[] = [];
  const tell = tellInto(problems);
  const { animals, inventory, orders } = changes;
  if (animals.remove === 'all') for (const name of COLLECTIONS) draft[name].clear();
  else yield* removingAnimals(draft, animals.remove);
  yield* removing(draft.inventory, inventory.remove);
  yield* removing(draft.orders, orders.remove);

  function* setting<R extends AnyRecord>(
    name: CollectionName,
    collection: Collection<R>,
    shape: Shape<R>,
    { each, set }: CollectionChanges<R>,
  ): Work<void> {
    const eachAt = [...at, name, 'each'];
    for (const { change } of each) tellMissingAnimal(draft.animals, change.petId, eachAt, tell);
    const layers = layersOf(collection.base, each);
    if (layers > MOST_LAYERS) tell({ at: eachAt, expected: FEW_LAYERS, found: `${layers}` });
    else changeEach(collection, STORED_RECORDS[name], each);
    for (const [index, members] of set.entries()) {
      const place = [...at, name, 'set', index];
      const given: AnyRecord = members;
      const id = given[ID_NAME[name]];
      const before = typeof id === 'bigint' ? collection.get(id) : undefined;
      const record = shape.read({ ...before, ...given }, place, tell);
      if (record !== undefined) collection.set(record);
      tellMissingAnimal(draft.animals, given.petId, [...place, 'petId'], tell);
      yield;
    }
  }
  yield* setting('animals', draft.animals, RECORD_SHAPES.animals, animals);
  yield* setting('inventory', draft.inventory, RECORD_SHAPES.inventory, inventory);
  yield* setting('orders', draft.orders, RECORD_SHAPES.orders, orders);

  if (problems.length === 0) restoreStore(store, draft);
  return problems;
}

/** Ids that are removed in one step. */
const REMOVED_AT_ONCE = 1024;

function* removing<R extends object>(
  collection: Collection<R>,
  ids: Iterable<bigint> | 'all',
): Work<void> {
  if (ids === 'all') {
    collection.clear();
    return;
  }
  let some = new Set<bigint>();
  for (const id of ids) {
    some.add(id);
    if (some.size < REMOVED_AT_ONCE) continue;
    collection.deleteAll(some);
    some = new Set();
    yield;
  }
  collection.deleteAll(some);
}

/** Prepares `removeAnimal` in turns with other requests: indexes the orders of a new base. */
export async function prepareRemoval(store: Store, id: bigint): Promise<void> {
  for (let base: unknown; store.animals.has(id) && base !== store.orders.base; ) {
    base = store.orders.base;
    await indexByAnimal(store.orders.base);
  }
}

/**
 * Removes an animal with its inventory entry and its orders.
 *
 * @returns whether the animal existed
 */
export function removeAnimal(store: Store, id: bigint): boolean {
  if (!store.animals.has(id)) return false;
  atOnce(removingAnimals(store, [id]));
  return true;
}

function* removingAnimals(store: Store, ids: readonly bigint[]): Work<void> {
  const known = new Set<bigint>();
  for (const id of ids) {
    if (store.animals.has(id)) known.add(id);
    yield;
  }
  const orders = yield* findingOrders(store.orders, known);
  yield* removing(store.animals, known);
  yield* removing(store.inventory, known);
  yield* removing(store.orders, orders);
}

/** Some ids, such as those of a `Collection`. */
export interface Ids {
  has(id: bigint): boolean;
}

/** Reports a petId that no animal has. */
export function tellMissingAnimal(animals: Ids, petId: unknown, at: At, tell: Tell): void {
  if (typeof petId !== 'bigint' || animals.has(petId)) return;
  tell({ at, expected: 'the id of an animal', found: `${petId}, which no animal has` });
}
