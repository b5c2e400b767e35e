import type { Choices } from '../contract/assumption-table.ts';
import type { OperationId, RequestChange, Way } from '../contract/operations.ts';

/** The request that gets the success of each operation. */
export const EXAMPLES: Readonly<Record<OperationId, RequestChange>> = {
  listPets: {},
  createPet: { body: '{"name":"Rex","categoryId":1}' },
  getPet: { id: '1' },
  listInventory: {},
  updateInventory: { id: '1', body: '{"quantity":5}' },
  listOrders: {},
  cancelOrder: { id: '1' },
};

export interface ReplyWay extends Way {
  /** Options to choose besides the reply's own ground. */
  readonly assume?: Partial<Choices>;
}

export const INVALID_INPUT: Readonly<Record<OperationId, ReplyWay>> = {
  listPets: { send: { query: 'limit=0' } },
  createPet: { send: { body: '{}' } },
  getPet: { send: { id: 'one' } },
  listInventory: { send: { query: 'limit=3' }, assume: { 'unknown-query': 'reject' } },
  updateInventory: { send: { id: 'one' } },
  listOrders: { send: { query: 'limit=3' }, assume: { 'unknown-query': 'reject' } },
  cancelOrder: { send: { id: 'one' } },
};
