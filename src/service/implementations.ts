import type { OperationId } from '../contract/operations.ts';
import { listInventory, updateInventory } from './inventory.ts';
import type { Operation } from './operation.ts';
import { cancelOrder, listOrders } from './orders.ts';
import { createPet, getPet, listPets } from './pets.ts';

/** The function of each operation. A missing one does not compile. */
export const SERVICE = {
  listPets,
  createPet,
  getPet,
  listInventory,
  updateInventory,
  listOrders,
  cancelOrder,
} satisfies Record<OperationId, Operation>;
