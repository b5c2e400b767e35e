import {
  type Animal,
  COLLECTIONS,
  type CollectionName,
  type InventoryEntry,
  type Order,
} from '../contract/records.ts';
import { RECORD_SHAPES } from '../shape/record-shapes.ts';
import { type At, problemOf, type Shape, type ShapeProblem, type Tell } from '../shape/shapes.ts';
import type { Collection } from './collection.ts';
import { ordersByAnimal } from './orders-by-animal.ts';
import { forkStore, restoreStore, type Store } from './store.ts';

/** Changes to one collection: records taken out first, then members of records put in, by id. */
export interface CollectionChanges<R> {
  readonly remove: readonly bigint[] | 'all';
  /** A record with an id that is new must be whole. */
  readonly set: readonly Partial<R>[];
}

export interface StoreChanges {
  readonly animals: CollectionChanges<Animal>;
  readonly inventory: CollectionChanges<InventoryEntry>;
  readonly orders: CollectionChanges<Order>;
}

/** The member that is the id of a collection's records. */
export const ID_NAME = {
  animals: 'id',
  inventory: 'petId',
  orders: 'id',
} as const satisfies Record<CollectionName, string>;

/**
 * Merges changes into a store: all of them, or none where one leads to a record that is not whole or
 * that names an animal which does not exist. With an animal go its inventory entry and its orders.
 *
 * @returns what is wrong; nothing where the changes were made
 */
export function mergeInto(
  store: Store,
  changes: StoreChanges,
  at: At = [],
): readonly ShapeProblem[] {
  const draft = forkStore(store);
  const problems: ShapeProblem[] = [];
  const { animals, inventory, orders } = changes;
  if (animals.remove === 'all') for (const name of COLLECTIONS) draft[name].clear();
  else removeAnimals(draft, new Set(animals.remove));
  remove(draft.inventory, inventory.remove);
  remove(draft.orders, orders.remove);

  const merge = <R extends object>(
    name: CollectionName,
    shape: Shape<R>,
    collection: Collection<R>,
    set: readonly Partial<R>[],
  ): void => {
    for (const [index, members] of set.entries()) {
      const place = [...at, name, 'set', index];
      const tell: Tell = (misfit) => problems.push(problemOf(misfit));
      const record = shape.read({ ...before(name, collection, members), ...members }, place, tell);
      if (record !== undefined) collection.set(record);
      if ('petId' in members) tellMissingAnimal(draft, members.petId, [...place, 'petId'], tell);
    }
  };
  merge('animals', RECORD_SHAPES.animals, draft.animals, animals.set);
  merge('inventory', RECORD_SHAPES.inventory, draft.inventory, inventory.set);
  merge('orders', RECORD_SHAPES.orders, draft.orders, orders.set);

  if (problems.length === 0) restoreStore(store, draft);
  return problems;
}

function remove<R extends object>(collection: Collection<R>, ids: readonly bigint[] | 'all'): void {
  if (ids === 'all') collection.clear();
  else collection.deleteAll(new Set(ids));
}

/**
 * Removes an animal with its inventory entry and its orders, which may not name a missing animal.
 *
 * @returns whether there was such an animal
 */
export function removeAnimal(store: Store, id: bigint): boolean {
  if (!store.animals.has(id)) return false;
  removeAnimals(store, new Set([id]));
  return true;
}

function removeAnimals(store: Store, ids: ReadonlySet<bigint>): void {
  const known = new Set([...ids].filter((id) => store.animals.has(id)));
  store.animals.deleteAll(known);
  store.inventory.deleteAll(known);
  store.orders.deleteAll(ordersByAnimal(store.orders, known));
}

/** The record that members are merged into. */
function before<R extends object>(
  name: CollectionName,
  collection: Collection<R>,
  members: Readonly<Record<string, unknown>>,
): R | undefined {
  const id = members[ID_NAME[name]];
  return typeof id === 'bigint' ? collection.get(id) : undefined;
}

/** Tells a petId that no animal has. */
export function tellMissingAnimal({ animals }: Store, petId: unknown, at: At, tell: Tell): void {
  if (typeof petId !== 'bigint' || animals.has(petId)) return;
  tell({ at, expected: 'the id of an animal', found: `${petId}, which no animal has` });
}
