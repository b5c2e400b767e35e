import type { ASSUMPTIONS, AssumptionId, Choices } from '../contract/assumption-table.ts';
import type { OPERATIONS, OperationId } from '../contract/operations.ts';

/** How a request differs from the example of its operation. */
export interface RequestChange {
  /** The id in the path. */
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

/** A call of the control API, with its path below `/__mock`. */
export interface ControlRequest {
  readonly method: 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly body?: string;
}

/** How to get a reply without forcing it, and the shipped scenario that leads to it. */
export interface Way {
  readonly send?: RequestChange;
  readonly arrange?: readonly ControlRequest[];
  /** Options to choose besides the reply's own ground. */
  readonly assume?: Partial<Choices>;
  readonly preset?: {
    readonly name: string;
    readonly arrange?: readonly ControlRequest[];
    readonly send?: RequestChange;
  };
}

type DocumentedWays = {
  readonly [Id in OperationId]: {
    readonly [Status in keyof (typeof OPERATIONS)[Id]['replies']]: Way;
  };
};

type OptionEntry<Id extends AssumptionId> = (typeof ASSUMPTIONS)[Id]['options'][number];

/** The options that add a reply, as `id=option`. */
type OptionGround = {
  [Id in AssumptionId]: `${Id}=${Extract<OptionEntry<Id>, { readonly reply: object }>['name']}`;
}[AssumptionId];

export interface WayTable {
  readonly documented: Readonly<Record<OperationId, Readonly<Record<number, Way>>>>;
  readonly assumed: Readonly<Record<string, (operation: OperationId) => Way>>;
}

const UNCHANGED: Way = {};
const WITHOUT_KEY: Way = { send: { key: null }, preset: { name: 'invalid-keys' } };
const UNKNOWN = '999999';

const INVALID = {
  listPets: { send: { query: 'limit=0' } },
  createPet: { send: { body: '{}' } },
  getPet: { send: { id: 'one' } },
  listInventory: { send: { query: 'limit=3' }, assume: { 'unknown-query': 'reject' } },
  updateInventory: { send: { id: 'one' } },
  listOrders: { send: { query: 'limit=3' }, assume: { 'unknown-query': 'reject' } },
  cancelOrder: { send: { id: 'one' } },
} as const satisfies Record<OperationId, Way>;

const UNKNOWN_PET: Way = { send: { id: UNKNOWN } };
const SUNSET: ControlRequest = {
  method: 'PUT',
  path: '/clock',
  body: '{"now":"2030-12-06T00:00:00Z"}',
};
const LAST_ID: ControlRequest = {
  method: 'POST',
  path: '/animals',
  body: '{"id":9223372036854775807,"name":"Last","categoryId":1}',
};
/** Puts all requests into the same second, however slow they are. */
const FROZEN: ControlRequest = { method: 'PUT', path: '/clock', body: '{"frozen":true}' };
const tooLong = (limit: number): Way => ({ send: { body: limit + 1 } });

/** How to get each reply from a server with the default fixture. */
export const WAYS = {
  documented: {
    listPets: { 200: UNCHANGED, 401: WITHOUT_KEY },
    createPet: { 201: UNCHANGED, 401: WITHOUT_KEY },
    getPet: { 200: UNCHANGED, 401: WITHOUT_KEY },
    listInventory: { 200: UNCHANGED, 401: WITHOUT_KEY },
    updateInventory: { 200: UNCHANGED, 401: WITHOUT_KEY },
    listOrders: { 200: UNCHANGED, 401: WITHOUT_KEY },
    cancelOrder: {
      204: UNCHANGED,
      401: WITHOUT_KEY,
      404: { send: { id: UNKNOWN }, preset: { name: 'no-orders' } },
      409: {
        arrange: [{ method: 'PATCH', path: '/orders/1', body: '{"status":"shipped"}' }],
        preset: { name: 'shipped-orders' },
      },
    },
  } satisfies DocumentedWays,
  assumed: {
    'invalid-input=400': (operation) => INVALID[operation],
    'invalid-input=422': (operation) => INVALID[operation],
    'media-type=reject': () => ({ send: { mediaType: 'text/plain' } }),
    'body-limit=1mb': () => tooLong(2 ** 20),
    'body-limit=10kb': () => tooLong(10 * 2 ** 10),
    'body-limit=none': () => tooLong(64 * 2 ** 20),
    'unknown-pet=404': () => ({ ...UNKNOWN_PET, preset: { name: 'empty-store' } }),
    'unknown-pet=400': () => UNKNOWN_PET,
    'assigned-ids=next': () => ({ arrange: [LAST_ID] }),
    'after-sunset=410': () => ({ arrange: [SUNSET], preset: { name: 'after-sunset' } }),
    'after-sunset=404': () => ({ arrange: [SUNSET] }),
    'inventory-missing-entry=404': () => ({
      arrange: [{ method: 'DELETE', path: '/inventory/1' }],
      preset: { name: 'empty-inventory' },
    }),
    'read-only-keys=403': () => ({
      send: { key: 'demo-read-only-key' },
      preset: { name: 'read-only-key' },
    }),
    'rate-limit=10/s': () => ({
      arrange: [FROZEN],
      send: { times: 11 },
      preset: { name: 'rate-limited', arrange: [FROZEN], send: { times: 3 } },
    }),
  } satisfies Record<OptionGround, (operation: OperationId) => Way>,
} as const;

/** The request of each operation, unless a way says otherwise. */
export const EXAMPLES: Readonly<Record<OperationId, RequestChange>> = {
  listPets: {},
  createPet: { body: '{"name":"Rex","categoryId":1}' },
  getPet: { id: '1' },
  listInventory: {},
  updateInventory: { id: '1', body: '{"quantity":5}' },
  listOrders: {},
  cancelOrder: { id: '1' },
};
