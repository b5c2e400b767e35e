import { OPERATIONS } from '../contract/operations.ts';
import type { InventoryEntry } from '../contract/records.ts';
import type { Store } from '../store/store.ts';
import { writeList } from '../store/store-text.ts';
import type { InputReader } from './input.ts';
import { operation, type ReplyWithStore, type ServiceState } from './operation.ts';
import { unknownPet } from './pets.ts';
import { type AssumptionTrace, errorReply, jsonReply, type Reply } from './reply.ts';

export const listInventory = operation(
  'listInventory',
  (reader) => reader.query(),
  ({ choices, store: { inventory }, represent }, _query, decidedBy) => {
    const write = () => writeList(inventory.ascending(), represent.inventoryEntry);
    return jsonReply(decidedBy, 200, inventory.list(choices, '', write).text);
  },
);

interface StockUpdate {
  readonly petId: bigint;
  readonly quantity: number;
}

export const updateInventory = operation('updateInventory', readStockUpdate, updateStock);

function readStockUpdate(reader: InputReader): StockUpdate | undefined {
  reader.query();
  const petId = reader.pathId('petId');
  const body = reader.body(OPERATIONS.updateInventory.body.shape);
  if (body === undefined) return undefined;
  const { quantity } = body.fields;
  if (quantity < 0) {
    const problem = `body.quantity: expected 0 or more, found ${quantity}`;
    reader.refuseUnless('negative-quantity', 'accept', problem);
  }
  return petId === undefined ? undefined : { petId, quantity };
}

function updateStock(
  state: ServiceState,
  { petId, quantity }: StockUpdate,
  decidedBy: AssumptionTrace,
): Reply | ReplyWithStore {
  const { choices, store } = state;
  const before = store.inventory.get(petId);
  if (before === undefined) {
    if (!store.animals.has(petId)) return unknownPet(state, petId, decidedBy);
    decidedBy.add('inventory-missing-entry');
    if (choices['inventory-missing-entry'] === '404') {
      const message = `animal ${petId} has no inventory entry`;
      return errorReply(decidedBy, 'inventory_entry_not_found', 404, message);
    }
  }
  const { entry, store: after } = withQuantity(
    state,
    before ?? { petId, quantity: 0, status: stockStatus(quantity) },
    quantity,
  );
  const text = state.represent.inventoryEntry(entry);
  return { reply: jsonReply(decidedBy, 200, text), store: after };
}

export function withQuantity(
  { choices, store }: Pick<ServiceState, 'choices' | 'store'>,
  before: InventoryEntry,
  wanted: number,
): { readonly entry: InventoryEntry; readonly store: Store } {
  // The sum can be larger than a quantity may be, so it is clamped.
  const quantity = Math.min(Math.max(wanted, Number.MIN_SAFE_INTEGER), Number.MAX_SAFE_INTEGER);
  const follows = choices['inventory-status'] === 'follows-quantity';
  const status = follows ? stockStatus(quantity) : before.status;
  const entry = { ...before, quantity, status };
  const inventory = store.inventory.with(entry);
  const crossesZero = quantity === 0 || before.quantity === 0;
  const isFollowed = choices['animal-follows-stock'] === 'yes' && crossesZero;
  const animal = isFollowed ? store.animals.get(before.petId) : undefined;
  const animals =
    animal === undefined
      ? store.animals
      : store.animals.with({ ...animal, status: stockStatus(quantity) });
  return { entry, store: { animals, inventory, orders: store.orders } };
}

function stockStatus(quantity: number): 'available' | 'sold' {
  return quantity > 0 ? 'available' : 'sold';
}
