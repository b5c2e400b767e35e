import type { Animal, InventoryEntry, Order } from '../contract/records.ts';
import { type Base, basing } from './base.ts';
import { Collection } from './collection.ts';
import { atOnce, type Work } from './work.ts';

/** A base for each collection. */
export interface StoreBase {
  readonly animals: Base<Animal>;
  readonly inventory: Base<InventoryEntry>;
  readonly orders: Base<Order>;
}

/** The records of a fixture, in any order. */
export interface StoreRecords {
  readonly animals: readonly Animal[];
  readonly inventory: readonly InventoryEntry[];
  readonly orders: readonly Order[];
}

/** The id of a record, by collection. */
export const ID_OF = {
  animals: (animal: Animal): bigint => animal.id,
  inventory: (entry: InventoryEntry): bigint => entry.petId,
  orders: (order: Order): bigint => order.id,
};

/** The state of the service. */
export interface Store {
  readonly animals: Collection<Animal>;
  readonly inventory: Collection<InventoryEntry>;
  readonly orders: Collection<Order>;
}

/** Makes bases of the records of a store. */
export function storeBaseOf(records: StoreRecords): StoreBase {
  return atOnce(storeBasing(records));
}

/** The work of `storeBaseOf`. */
export function* storeBasing(records: StoreRecords): Work<StoreBase> {
  return {
    animals: yield* basing(records.animals, ID_OF.animals),
    inventory: yield* basing(records.inventory, ID_OF.inventory),
    orders: yield* basing(records.orders, ID_OF.orders),
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
