import type {
  Animal,
  CollectionName,
  InventoryEntry,
  Order,
  StoredRecord,
} from '../contract/records.ts';
import { Records } from './sorted-records.ts';

/** The records of the service. Immutable. */
export type Store = { readonly [Name in CollectionName]: Records<StoredRecord[Name]> };

export type StoreRecords = { readonly [Name in CollectionName]: Iterable<StoredRecord[Name]> };

export const ID_NAME = {
  animals: 'id',
  inventory: 'petId',
  orders: 'id',
} as const satisfies Record<CollectionName, string>;

export function createStore({ animals, inventory, orders }: StoreRecords): Store {
  return {
    animals: Records.of(animals, (animal: Animal) => animal.id),
    inventory: Records.of(inventory, (entry: InventoryEntry) => entry.petId),
    orders: Records.of(orders, (order: Order) => order.id),
  };
}

/** How many records differ, by collection. */
export function countChanges(
  before: Store,
  after: Store,
): { readonly [Name in CollectionName]: number } {
  return {
    animals: before.animals.changedIds(after.animals).length,
    inventory: before.inventory.changedIds(after.inventory).length,
    orders: before.orders.changedIds(after.orders).length,
  };
}

export const EMPTY_STORE: Store = createStore({ animals: [], inventory: [], orders: [] });
