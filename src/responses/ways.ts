import type { ASSUMPTIONS, AssumptionId, Choices } from '../contract/assumption-table.ts';
import type { OPERATIONS, OperationId } from '../contract/operations.ts';

/** What a request has otherwise than the example of its operation. */
export interface Sent {
  /** The id in the path. */
  readonly id?: string;
  readonly query?: string;
  /** Null sends no key. */
  readonly key?: string | null;
  /** A number stands for a body of so many bytes. */
  readonly body?: string | number;
  readonly mediaType?: string;
  /** How often it is sent; the last reply counts. */
  readonly times?: number;
}

/** A call of the control API, with its path below `/__mock`. */
export interface Arranged {
  readonly method: 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly body?: string;
}

/** How a reply comes about without being forced, and the shipped scenario that leads to it. */
export interface Way {
  readonly send?: Sent;
  readonly arrange?: readonly Arranged[];
  /** What is assumed beside the reply's own ground. */
  readonly assume?: Partial<Choices>;
  readonly preset?: {
    readonly name: string;
    readonly arrange?: readonly Arranged[];
    readonly send?: Sent;
  };
}

type DocumentedWays = {
  readonly [Id in OperationId]: {
    readonly [Status in keyof (typeof OPERATIONS)[Id]['replies']]: Way;
  };
};

type OptionOf<Id extends AssumptionId> = (typeof ASSUMPTIONS)[Id]['options'][number];
type TouchedBy<Id extends AssumptionId> = (typeof ASSUMPTIONS)[Id]['touches'][number];

type GroundOf<Id extends AssumptionId, Option = OptionOf<Id>> = Option extends {
  readonly name: infer Name extends string;
  readonly reply: object;
}
  ? { readonly name: `${Id}=${Name}`; readonly on: TouchedBy<Id> }
  : never;

type Ground = { [Id in AssumptionId]: GroundOf<Id> }[AssumptionId];

type AssumedWays = {
  readonly [G in Ground as G['name']]: { readonly [Id in G['on']]: Way };
};

export type WayTable = {
  readonly documented: Readonly<Record<OperationId, Readonly<Record<number, Way>>>>;
  readonly assumed: Readonly<Record<string, Partial<Readonly<Record<OperationId, Way>>>>>;
};

const AS_IT_IS: Way = {};
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
const READ_ONLY: Way = {
  send: { key: 'demo-read-only-key' },
  preset: { name: 'read-only-key' },
};
const SUNSET: Arranged = { method: 'PUT', path: '/clock', body: '{"now":"2030-12-06T00:00:00Z"}' };
/** However slowly the requests follow each other, they are all made in the same second. */
const FROZEN: Arranged = { method: 'PUT', path: '/clock', body: '{"frozen":true}' };
const TOO_OFTEN: Way = {
  arrange: [FROZEN],
  send: { times: 11 },
  preset: { name: 'rate-limited', arrange: [FROZEN], send: { times: 3 } },
};
const UNTYPED: Way = { send: { mediaType: 'text/plain' } };

/** Both operations that take a body, with one that is a byte too long. */
function tooLong(limit: number): { readonly createPet: Way; readonly updateInventory: Way } {
  const way: Way = { send: { body: limit + 1 } };
  return { createPet: way, updateInventory: way };
}

/** How each reply is had from a server with the default fixture. */
export const WAYS = {
  documented: {
    listPets: { 200: AS_IT_IS, 401: WITHOUT_KEY },
    createPet: { 201: AS_IT_IS, 401: WITHOUT_KEY },
    getPet: { 200: AS_IT_IS, 401: WITHOUT_KEY },
    listInventory: { 200: AS_IT_IS, 401: WITHOUT_KEY },
    updateInventory: { 200: AS_IT_IS, 401: WITHOUT_KEY },
    listOrders: { 200: AS_IT_IS, 401: WITHOUT_KEY },
    cancelOrder: {
      204: AS_IT_IS,
      401: WITHOUT_KEY,
      404: { send: { id: UNKNOWN }, preset: { name: 'no-orders' } },
      409: {
        arrange: [{ method: 'PATCH', path: '/orders/1', body: '{"status":"shipped"}' }],
        preset: { name: 'shipped-orders' },
      },
    },
  } satisfies DocumentedWays,
  assumed: {
    'invalid-input=400': INVALID,
    'invalid-input=422': INVALID,
    'media-type=reject': { createPet: UNTYPED, updateInventory: UNTYPED },
    'body-limit=1mb': tooLong(2 ** 20),
    'body-limit=10kb': tooLong(10 * 2 ** 10),
    'body-limit=none': tooLong(64 * 2 ** 20),
    'unknown-pet=404': {
      getPet: { ...UNKNOWN_PET, preset: { name: 'empty-store' } },
      updateInventory: { ...UNKNOWN_PET, preset: { name: 'empty-store' } },
    },
    'unknown-pet=400': { getPet: UNKNOWN_PET, updateInventory: UNKNOWN_PET },
    'assigned-ids=next': {
      createPet: {
        arrange: [
          {
            method: 'POST',
            path: '/animals',
            body: '{"id":9223372036854775807,"name":"Last","categoryId":1}',
          },
        ],
      },
    },
    'after-sunset=410': { getPet: { arrange: [SUNSET], preset: { name: 'after-sunset' } } },
    'after-sunset=404': { getPet: { arrange: [SUNSET] } },
    'inventory-missing-entry=404': {
      updateInventory: {
        arrange: [{ method: 'DELETE', path: '/inventory/1' }],
        preset: { name: 'empty-inventory' },
      },
    },
    'read-only-keys=403': {
      createPet: READ_ONLY,
      updateInventory: READ_ONLY,
      cancelOrder: READ_ONLY,
    },
    'rate-limit=10/s': {
      listPets: TOO_OFTEN,
      createPet: TOO_OFTEN,
      getPet: TOO_OFTEN,
      listInventory: TOO_OFTEN,
      updateInventory: TOO_OFTEN,
      listOrders: TOO_OFTEN,
      cancelOrder: TOO_OFTEN,
    },
  } satisfies AssumedWays,
} as const;

/** What each operation is sent where a way says nothing else. */
export const EXAMPLES: Readonly<Record<OperationId, Sent>> = {
  listPets: {},
  createPet: { body: '{"name":"Rex","categoryId":1}' },
  getPet: { id: '1' },
  listInventory: {},
  updateInventory: { id: '1', body: '{"quantity":5}' },
  listOrders: {},
  cancelOrder: { id: '1' },
};
