import type { Animal, InventoryEntry, Order } from '../../contract/records.ts';
import { restoreStore, type Store } from '../store.ts';
import { RecordedCollection } from './recorded-collection.ts';
import type { Reversible, StoreChange } from './store-change.ts';

/** The change that leads from one store to another. Costs little if one began as a fork of the other. */
export function storeDifference(from: Store, to: Store): StoreChange {
  const store = new RecordedStore(from, from);
  restoreStore(store, to);
  return store.take()?.change ?? {};
}

/** A store that records what changes, so that the change can be kept and undone. */
export class RecordedStore implements Store {
  readonly animals: RecordedCollection<Animal>;
  readonly inventory: RecordedCollection<InventoryEntry>;
  readonly orders: RecordedCollection<Order>;

  /**
   * @param from the first records
   * @param start the records that `start` stands for in changes, if anything does
   */
  constructor(from: Store, start?: Store) {
    this.animals = new RecordedCollection(from.animals, start?.animals);
    this.inventory = new RecordedCollection(from.inventory, start?.inventory);
    this.orders = new RecordedCollection(from.orders, start?.orders);
  }

  /** Sets the records that `start` stands for in changes. */
  set start({ animals, inventory, orders }: Store) {
    this.animals.start = animals;
    this.inventory.start = inventory;
    this.orders.start = orders;
  }

  /** Returns what changed since the last call; undefined if nothing did. */
  take(): Reversible<StoreChange> | undefined {
    const animals = this.animals.take();
    const inventory = this.inventory.take();
    const orders = this.orders.take();
    if (animals === undefined && inventory === undefined && orders === undefined) return undefined;
    return {
      change: { animals: animals?.change, inventory: inventory?.change, orders: orders?.change },
      inverse: {
        animals: animals?.inverse,
        inventory: inventory?.inverse,
        orders: orders?.inverse,
      },
    };
  }

  /** Applies a change that was recorded here or in an equal store, without recording it again. */
  apply({ animals, inventory, orders }: StoreChange): void {
    if (animals !== undefined) this.animals.apply(animals);
    if (inventory !== undefined) this.inventory.apply(inventory);
    if (orders !== undefined) this.orders.apply(orders);
  }
}
