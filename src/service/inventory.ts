import { OPERATIONS } from '../contract/operations.ts';
import type { InventoryEntry } from '../contract/records.ts';
import type { InputReader } from './input.ts';
import { operation } from './perform.ts';
import { unknownPet } from './pets.ts';
import { errorReply, type Grounds, type Reply, recordReply } from './reply.ts';
import type { World } from './world.ts';
import { listReply } from './written-list.ts';

/** `GET /inventory`: lists every entry. */
export const listInventory = operation(
  'listInventory',
  (reader) => reader.query(),
  ({ store, represent }, _query, grounds) =>
    listReply(grounds, {
      collection: store.inventory,
      write: represent.inventoryEntry,
      way: represent.number,
    }),
);

interface StockUpdate {
  readonly petId: bigint;
  readonly quantity: number;
}

/** `PATCH /inventory/{petId}`: sets the quantity of an entry. */
export const updateInventory = operation('updateInventory', readStockUpdate, updateStock);

function readStockUpdate(reader: InputReader): StockUpdate | undefined {
  reader.query();
  const petId = reader.pathId('petId');
  const body = reader.body(OPERATIONS.updateInventory.body.fields);
  if (body === undefined) return undefined;
  const { quantity } = body.fields;
  if (quantity < 0) {
    const problem = `body.quantity: expected 0 or more, found ${quantity}`;
    reader.refuseUnless('negative-quantity', 'accept', problem);
  }
  return petId === undefined ? undefined : { petId, quantity };
}

function updateStock(world: World, { petId, quantity }: StockUpdate, grounds: Grounds): Reply {
  const { choices, store } = world;
  const before = store.inventory.get(petId);
  if (before === undefined) {
    if (!store.animals.has(petId)) return unknownPet(world, petId, grounds);
    grounds.decidedBy('inventory-missing-entry');
    if (choices['inventory-missing-entry'] === '404') {
      const message = `animal ${petId} has no inventory entry`;
      return errorReply(grounds, 'inventory_entry_not_found', 404, message);
    }
  }
  const entry = setQuantity(
    world,
    before ?? { petId, quantity: 0, status: stockStatus(quantity) },
    quantity,
  );
  return recordReply(grounds, 200, world.represent.inventoryEntry(entry), entry);
}

/** Stores an entry's new quantity, and the statuses that the assumptions derive from it. */
export function setQuantity(
  world: World,
  before: InventoryEntry,
  quantity: number,
): InventoryEntry {
  const { choices, store } = world;
  const follows = choices['inventory-status'] === 'follows-quantity';
  const status = follows ? stockStatus(quantity) : before.status;
  const entry = { petId: before.petId, quantity, status };
  store.inventory.set(entry);
  const crossesZero = quantity === 0 || before.quantity === 0;
  if (choices['animal-follows-stock'] === 'yes' && crossesZero) {
    const animal = store.animals.get(before.petId);
    if (animal !== undefined) store.animals.set({ ...animal, status: stockStatus(quantity) });
  }
  return entry;
}

function stockStatus(quantity: number): 'available' | 'sold' {
  return quantity > 0 ? 'available' : 'sold';
}
