import {
  OPERATION_IDS,
  OPERATIONS,
  type OperationId,
  operationShape,
} from '../../src/contract/operations.ts';
import type { Sent } from './wire.ts';

/** A request that the document prescribes a status for. */
interface Case {
  /** Below `/v1`. */
  readonly path: string;
  readonly sent?: Sent;
}

type Cases = {
  readonly [Id in OperationId]: Readonly<Record<keyof (typeof OPERATIONS)[Id]['replies'], Case>>;
};

const NO_KEY: Sent = { key: null };
const REX = { name: 'Rex', categoryId: 7 };

/** A request for each documented reply; a new operation or reply does not compile without one. */
const CASES: Cases = {
  listPets: {
    200: { path: '/pets?limit=3&status=available' },
    401: { path: '/pets', sent: NO_KEY },
  },
  createPet: {
    201: { path: '/pets', sent: { body: { ...REX, status: 'available' } } },
    401: { path: '/pets', sent: { ...NO_KEY, body: REX } },
  },
  getPet: {
    200: { path: '/pets/1' },
    401: { path: '/pets/1', sent: NO_KEY },
  },
  listInventory: {
    200: { path: '/inventory' },
    401: { path: '/inventory', sent: NO_KEY },
  },
  updateInventory: {
    200: { path: '/inventory/1', sent: { body: { quantity: 9 } } },
    401: { path: '/inventory/1', sent: { ...NO_KEY, body: { quantity: 9 } } },
  },
  listOrders: {
    200: { path: '/store/orders' },
    401: { path: '/store/orders', sent: NO_KEY },
  },
  cancelOrder: {
    204: { path: '/store/orders/1' },
    401: { path: '/store/orders/1', sent: NO_KEY },
    404: { path: '/store/orders/999' },
    409: { path: '/store/orders/2' },
  },
};

/** Every documented reply. */
export const DOCUMENTED = OPERATION_IDS.flatMap((operation) =>
  Object.entries(operationShape(operation).replies).map(([status, shape]) => ({
    operation,
    status: Number(status),
    shape,
  })),
);

/** A request that gets this status from a sandbox as it starts. */
export function requestFor(operation: OperationId, status: number): Case & { method: string } {
  const cases: Readonly<Record<number, Case>> = CASES[operation];
  const found = cases[status];
  if (found === undefined) throw new Error(`No case for ${operation} ${status}.`);
  return { method: OPERATIONS[operation].method, ...found };
}
