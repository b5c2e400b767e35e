import type { OperationId } from '../contract/operations.ts';
import { listInventory, updateInventory } from './inventory.ts';
import type { Operation } from './operation.ts';
import { cancelOrder, listOrders } from './orders.ts';
import { createPet, getPet, listPets } from './pets.ts';

export const SERVICE = {
  listPets,
  createPet,
  getPet,
  listInventory,
  updateInventory,
  listOrders,
  cancelOrder,
} satisfies Record<OperationId, Operation>;
