import {
  type Animal,
  type CollectionName,
  type Fields,
  type InventoryEntry,
  type Order,
  type Problem,
  type RecordOf,
  readRecord,
  STORED_RECORDS,
} from '../contract/records.ts';
import { describe } from '../words.ts';
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
export function mergeInto(store: Store, changes: StoreChanges, path = '$'): readonly Problem[] {
  const draft = forkStore(store);
  const problems: Problem[] = [];
  const { animals, inventory, orders } = changes;
  if (animals.remove === 'all') for (const name of COLLECTIONS) draft[name].clear();
  else removeAnimals(draft, new Set(animals.remove));
  remove(draft.inventory, inventory.remove);
  remove(draft.orders, orders.remove);

  const merge = <const F extends Fields>(
    name: CollectionName,
    fields: F,
    collection: Collection<RecordOf<F>>,
    set: readonly Partial<RecordOf<F>>[],
  ): void => {
    set.forEach((members, index) => {
      const at = `${path}.${name}.set[${index}]`;
      const record = mergedRecord(name, fields, collection, members, at);
      if (record.ok) collection.set(record.value);
      else problems.push(...record.problems);
      if ('petId' in members) checkAnimal(draft, members.petId, `${at}.petId`, problems);
    });
  };
  merge('animals', STORED_RECORDS.animals, draft.animals, animals.set);
  merge('inventory', STORED_RECORDS.inventory, draft.inventory, inventory.set);
  merge('orders', STORED_RECORDS.orders, draft.orders, orders.set);

  if (problems.length === 0) restoreStore(store, draft);
  return problems;
}

const COLLECTIONS = ['animals', 'inventory', 'orders'] as const;

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

/** A record as it will be: what is there under its id, with the given members over it. */
function mergedRecord<const F extends Fields>(
  name: CollectionName,
  fields: F,
  collection: Collection<RecordOf<F>>,
  members: Partial<RecordOf<F>>,
  path: string,
): ReturnType<typeof readRecord<F>> {
  const given: Readonly<Record<string, unknown>> = members;
  const id = given[ID_NAME[name]];
  const before = typeof id === 'bigint' ? collection.get(id) : undefined;
  return readRecord(fields, { ...before, ...members }, path);
}

function checkAnimal(store: Store, petId: unknown, path: string, problems: Problem[]): void {
  if (typeof petId !== 'bigint' || store.animals.has(petId)) return;
  const found = `${describe(petId)}, which no animal has`;
  problems.push({ path, expected: 'the id of an animal', found });
}
