import type { AssumptionId } from '../contract/assumption-table.ts';
import type { OPERATIONS, OperationId } from '../contract/operations.ts';
import type { AskName } from './asks.ts';
import { ANIMAL_PROBES } from './probes/animal-probes.ts';
import { INPUT_PROBES } from './probes/input-probes.ts';
import { INVENTORY_PROBES } from './probes/inventory-probes.ts';
import { ORDER_PROBES } from './probes/order-probes.ts';
import type { Impossible, Probe, Probes } from './probes/probe-shape.ts';
import { WIRE_PROBES } from './probes/wire-probes.ts';

/** What settles each assumption, or why nothing can. */
const PROBES: Probes<AssumptionId> = {
  ...INPUT_PROBES,
  ...ANIMAL_PROBES,
  ...INVENTORY_PROBES,
  ...ORDER_PROBES,
  ...WIRE_PROBES,
};

/** The requests to which the document prescribes each reply. */
const REPLY_ASKS: {
  readonly [Id in OperationId]: {
    readonly [Status in keyof (typeof OPERATIONS)[Id]['replies']]: readonly AskName[];
  };
} = {
  listPets: {
    200: [
      'pets100',
      'pets',
      'pets1',
      'pets2',
      'available',
      'pending',
      'sold',
      'petsAgain',
      'petsStill',
    ],
    401: ['petsNoKey', 'petsUnknownKey', 'petsInvalidKey'],
  },
  createPet: { 201: ['create', 'createPending'], 401: ['createNoKey'] },
  getPet: { 200: ['pet', 'largePet', 'created', 'petAt5', 'petAt0'], 401: ['petNoKey'] },
  listInventory: {
    200: ['inventory', 'inventoryCreated', 'inventoryKept', 'inventoryCancelled'],
    401: ['inventoryNoKey'],
  },
  updateInventory: { 200: ['stock5', 'stock0', 'stock3'], 401: ['stockNoKey'] },
  listOrders: { 200: ['orders', 'ordersCancelled'], 401: ['ordersNoKey'] },
  cancelOrder: {
    204: ['cancel'],
    401: ['cancelNoKey'],
    404: ['cancelUnknown'],
    409: ['cancelShipped'],
  },
};

/** A probe in its general type, for code that treats all of them alike. */
export function probeOf(id: AssumptionId): Probe | Impossible {
  return PROBES[id];
}

/** The requests to which the document prescribes a status. */
export function asksFor(operation: OperationId, status: number): readonly AskName[] {
  const asks: Readonly<Record<number, readonly AskName[]>> = REPLY_ASKS[operation];
  return asks[status] ?? [];
}
