import type { Choices } from '../contract/assumption-table.ts';
import type { OperationId } from '../contract/operations.ts';

export interface RequestChange {
  readonly id?: string;
  readonly query?: string;
  /** Null sends no key. */
  readonly key?: string | null;
  /** A number stands for a body of that many bytes. */
  readonly body?: string | number;
  readonly mediaType?: string;
  /** How many times it is sent; the last reply counts. */
  readonly times?: number;
}

export interface Way {
  readonly send?: RequestChange;
  /** Calls of the control API, such as `PATCH /orders/1 {"status":"shipped"}`. */
  readonly arrange?: readonly string[];
  /** Options to choose besides the reply's own ground. */
  readonly assume?: Partial<Choices>;
  readonly preset?: string;
}

const WITHOUT_KEY: Way = { send: { key: null }, preset: 'invalid-keys' };
const UNKNOWN = '999999';

const INVALID: Readonly<Record<OperationId, Way>> = {
  listPets: { send: { query: 'limit=0' } },
  createPet: { send: { body: '{}' } },
  getPet: { send: { id: 'one' } },
  listInventory: { send: { query: 'limit=3' }, assume: { 'unknown-query': 'reject' } },
  updateInventory: { send: { id: 'one' } },
  listOrders: { send: { query: 'limit=3' }, assume: { 'unknown-query': 'reject' } },
  cancelOrder: { send: { id: 'one' } },
};

const SHIPPED = 'PATCH /orders/1 {"status":"shipped"}';
const SUNSET = 'PUT /clock {"now":"2030-12-06T00:00:00Z"}';
const LAST_ID = 'POST /animals {"id":9223372036854775807,"name":"Last","categoryId":1}';
/** Puts all requests into the same second, however slow they are. */
const FROZEN = 'PUT /clock {"frozen":true}';
const tooLong = (limit: number): Way => ({ send: { body: limit + 1 } });

/** By operation and status, or by the option that adds the reply. */
const WAYS: Readonly<Record<string, Way>> = {
  'cancelOrder 404': { send: { id: UNKNOWN }, preset: 'no-orders' },
  'cancelOrder 409': { arrange: [SHIPPED], preset: 'shipped-orders' },
  'media-type=reject': { send: { mediaType: 'text/plain' } },
  'body-limit=1mb': tooLong(2 ** 20),
  'body-limit=10kb': tooLong(10 * 2 ** 10),
  'body-limit=none': tooLong(64 * 2 ** 20),
  'unknown-pet=404': { send: { id: UNKNOWN }, preset: 'empty-store' },
  'unknown-pet=400': { send: { id: UNKNOWN } },
  'assigned-ids=next': { arrange: [LAST_ID] },
  'after-sunset=410': { arrange: [SUNSET], preset: 'after-sunset' },
  'after-sunset=404': { arrange: [SUNSET] },
  'inventory-missing-entry=404': { arrange: ['DELETE /inventory/1'], preset: 'empty-inventory' },
  'read-only-keys=403': { send: { key: 'demo-read-only-key' }, preset: 'read-only-key' },
  'rate-limit=10/s': { arrange: [FROZEN], send: { times: 11 } },
};

/**
 * How to get a reply from a server with the default fixture. The examples get most of them.
 *
 * @param ground `documented`, or an option such as `unknown-pet=404`
 */
export function findWay(operation: OperationId, status: number, ground: string): Way {
  if (ground.startsWith('invalid-input=')) return INVALID[operation];
  if (status === 401) return WITHOUT_KEY;
  return WAYS[ground === 'documented' ? `${operation} ${status}` : ground] ?? {};
}

export const EXAMPLES: Readonly<Record<OperationId, RequestChange>> = {
  listPets: {},
  createPet: { body: '{"name":"Rex","categoryId":1}' },
  getPet: { id: '1' },
  listInventory: {},
  updateInventory: { id: '1', body: '{"quantity":5}' },
  listOrders: {},
  cancelOrder: { id: '1' },
};
