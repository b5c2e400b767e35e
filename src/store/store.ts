import type {
  Animal,
  CollectionName,
  InventoryEntry,
  Order,
  StoredRecord,
} from '../contract/records.ts';
import { type Base, baseOf } from './base.ts';
import { Collection } from './collection.ts';

/** A base for each collection. */
export type StoreBase = { readonly [Name in CollectionName]: Base<StoredRecord[Name]> };

/** The records of a fixture, in any order. */
export type StoreRecords = { readonly [Name in CollectionName]: readonly StoredRecord[Name][] };

/** The state of the service. */
export type Store = { readonly [Name in CollectionName]: Collection<StoredRecord[Name]> };

/** The id of a record, by collection. */
export const ID_OF = {
  animals: (animal: Animal): bigint => animal.id,
  inventory: (entry: InventoryEntry): bigint => entry.petId,
  orders: (order: Order): bigint => order.id,
};

/** Makes bases of the records of a store. */
export function storeBaseOf({ animals, inventory, orders }: StoreRecords): StoreBase {
  return {
    animals: baseOf(animals, ID_OF.animals),
    inventory: baseOf(inventory, ID_OF.inventory),
    orders: baseOf(orders, ID_OF.orders),
  };
}

/** Makes a store that equals its base. */
export function createStore(base: StoreBase): Store {
  return {
    animals: new Collection(base.animals, ID_OF.animals),
    inventory: new Collection(base.inventory, ID_OF.inventory),
    orders: new Collection(base.orders, ID_OF.orders),
  };
}

/** Copies a store at a constant cost. Later changes affect only one of them. */
export function forkStore({ animals, inventory, orders }: Store): Store {
  return { animals: animals.fork(), inventory: inventory.fork(), orders: orders.fork() };
}

/** Replaces the records of a store by those of another. Later changes affect only one of them. */
export function restoreStore(store: Store, from: Store): void {
  store.animals.restore(from.animals);
  store.inventory.restore(from.inventory);
  store.orders.restore(from.orders);
}

/** Identifies the state of a store: equal versions mean equal records. */
export function versionOf({ animals, inventory, orders }: Store): number {
  // Versions only grow, so the highest of the three changes with any of them.
  return Math.max(animals.version, inventory.version, orders.version);
}
