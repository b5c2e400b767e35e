import type {
  Animal,
  CollectionName,
  InventoryEntry,
  Order,
  StoredRecord,
} from '../contract/records.ts';
import { object, optional } from '../shape/objects.ts';
import { ID, RECORD_SHAPES } from '../shape/record-shapes.ts';
import { either, list, NULL, type Shape } from '../shape/shapes.ts';
import { Records, type RecordsChange } from './sorted-records.ts';

/** The records of the service. Immutable. */
export type Store = { readonly [Name in CollectionName]: Records<StoredRecord[Name]> };

/** The records of a store in any order, such as those of a fixture. */
export type StoreRecords = { readonly [Name in CollectionName]: Iterable<StoredRecord[Name]> };

/** The difference between two stores, without unchanged collections. */
export type StoreChange = {
  readonly [Name in CollectionName]?: RecordsChange<StoredRecord[Name]> | undefined;
};

/** The member that is the id, by collection. */
export const ID_NAME = {
  animals: 'id',
  inventory: 'petId',
  orders: 'id',
} as const satisfies Record<CollectionName, string>;

export function storeOf({ animals, inventory, orders }: StoreRecords): Store {
  return {
    animals: Records.of(animals, (animal: Animal) => animal.id),
    inventory: Records.of(inventory, (entry: InventoryEntry) => entry.petId),
    orders: Records.of(orders, (order: Order) => order.id),
  };
}

export const EMPTY_STORE: Store = storeOf({ animals: [], inventory: [], orders: [] });

/** The difference between two stores; undefined if there is none. Visits only what differs. */
export function storeChange(before: Store, after: Store): StoreChange | undefined {
  if (before === after) return undefined;
  const change: StoreChange = {
    animals: before.animals.changeTo(after.animals),
    inventory: before.inventory.changeTo(after.inventory),
    orders: before.orders.changeTo(after.orders),
  };
  return Object.values(change).some((part) => part !== undefined) ? change : undefined;
}

/** A store after a change that `storeChange` gives. */
export function applyStoreChange(store: Store, { animals, inventory, orders }: StoreChange): Store {
  return {
    animals: animals === undefined ? store.animals : store.animals.apply(animals),
    inventory: inventory === undefined ? store.inventory : store.inventory.apply(inventory),
    orders: orders === undefined ? store.orders : store.orders.apply(orders),
  };
}

/** A change of a store, as `writeJson` writes it. */
export const STORE_CHANGE: Shape<StoreChange> = object({
  animals: optional(recordsChange(RECORD_SHAPES.animals), 'Changed animals.'),
  inventory: optional(recordsChange(RECORD_SHAPES.inventory), 'Changed inventory entries.'),
  orders: optional(recordsChange(RECORD_SHAPES.orders), 'Changed orders.'),
});

function recordsChange<R extends object>(record: Shape<R>): Shape<RecordsChange<R>> {
  return object({
    remove: optional(list(ID), 'The ids of removed records.'),
    set: optional(list(record), 'New and replaced records.'),
    highestId: optional(either(ID, NULL), 'The highest id ever used.'),
  });
}
