import { type ObjectShape, object } from '../shape/objects.ts';
import type { Shape } from '../shape/shapes.ts';
import { rowNames } from '../tables.ts';
import { DAY_MS } from './date-time.ts';
import { INT64, INTEGER, RECORDS, type RecordName, TEXT } from './records.ts';

interface OperationParameter {
  readonly name: string;
  readonly in: 'path' | 'query';
  readonly shape: Shape<unknown>;
  readonly description: string;
  /** A value for which the default fixture has an answer. */
  readonly example: string | number;
  /** The collection that a path parameter's id refers to. */
  readonly finds?: 'animals' | 'orders';
  readonly minimum?: number;
  readonly maximum?: number;
  readonly default?: number;
}

interface AssumedInput {
  readonly name: string;
  readonly in: 'query' | 'body';
  readonly by: string;
  readonly option: string;
}

/** How a request differs from the example of its operation. */
export interface RequestChange {
  readonly id?: string;
  readonly query?: string;
  /** The API key to send; null sends none. */
  readonly key?: string | null;
  /** A number stands for a body of so many bytes. */
  readonly body?: string | number;
  readonly mediaType?: string;
  /** How many times the request is sent. The last reply counts. */
  readonly times?: number;
}

/** How to make a mock with the default fixture give a certain reply. */
export interface Way {
  readonly send?: RequestChange;
  /** Calls of the control API to make first, such as `PATCH /orders/1 {"status":"shipped"}`. */
  readonly arrange?: readonly string[];
  /** A shipped scenario to activate first. */
  readonly scenario?: string;
}

export interface DocumentedReply {
  readonly description: string;
  readonly body?: { readonly record: RecordName; readonly list?: true };
  readonly bodyNotShown?: true;
  /** Only for errors: the example of the operation gets its success. */
  readonly way?: Way;
}

type ReplyRow = DocumentedReply &
  (
    | {
        readonly body?: { readonly record: Exclude<RecordName, 'Error'> };
        readonly bodyNotShown?: never;
      }
    | { readonly way: Way }
  );

export interface OperationShape {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** The path below `/v1`. Only its last segment can be a parameter. */
  readonly path: string;
  readonly tag: 'Animals' | 'Inventory' | 'Orders';
  readonly summary: string;
  readonly description: string;
  readonly parameters: readonly OperationParameter[];
  readonly body?: { readonly name: string; readonly shape: ObjectShape };
  readonly replies: Readonly<Record<number, ReplyRow>>;
  /** The last day of the operation, an ISO 8601 date. */
  readonly sunset?: string;
  readonly stability?: 'experimental';
  /** Inputs that the operation reads only under some option of an assumption. */
  readonly assumedInputs?: readonly AssumedInput[];
  /** The document says that the operation returns everything, so a filter has no effect. */
  readonly returnsAll?: true;
}

/** The path of the service. The base URL in the document ends with it. */
export const BASE_PATH = '/v1';

const UNAUTHORIZED = {
  description: 'The API key is missing or invalid.',
  body: { record: 'Error' },
  way: { send: { key: null }, scenario: 'invalid-keys' },
} as const satisfies ReplyRow;

/** An id that no record of the default fixture has. */
export const UNKNOWN_ID = '999999';

const PET_ID = {
  name: 'petId',
  in: 'path',
  shape: INT64,
  description: 'The id of an animal.',
  example: 1,
  finds: 'animals',
} as const satisfies OperationParameter;

const { id: _assigned, ...NEW_ANIMAL } = RECORDS.Animal.members;
const { quantity } = RECORDS.InventoryEntry.members;

export const OPERATIONS = {
  listPets: {
    method: 'GET',
    path: '/pets',
    tag: 'Animals',
    summary: 'List animals',
    description: 'A page of animals. How a further page is asked for is not documented.',
    // Except for `limit`, each parameter filters by the field of its name.
    parameters: [
      {
        name: 'limit',
        in: 'query',
        shape: INTEGER,
        description: 'The maximum number of animals returned.',
        example: 20,
        minimum: 1,
        maximum: 100,
        default: 20,
      },
      {
        name: 'status',
        in: 'query',
        shape: TEXT,
        description: 'Only animals with this status. The allowed values are not documented.',
        example: 'available',
      },
    ],
    assumedInputs: [
      { name: 'cursor', in: 'query', by: 'pets-paging', option: 'cursor' },
      { name: 'offset', in: 'query', by: 'pets-paging', option: 'offset' },
    ],
    replies: {
      200: { description: 'An array of animals.', body: { record: 'Animal', list: true } },
      401: UNAUTHORIZED,
    },
  },
  createPet: {
    method: 'POST',
    path: '/pets',
    tag: 'Animals',
    summary: 'Add an animal',
    description: 'The service assigns the id; a client never sends one.',
    parameters: [],
    body: { name: 'NewAnimal', shape: object(NEW_ANIMAL, { open: true }) },
    assumedInputs: [{ name: 'id', in: 'body', by: 'id-on-create', option: 'ignore' }],
    replies: {
      201: { description: 'The created animal.', body: { record: 'Animal' } },
      401: UNAUTHORIZED,
    },
  },
  getPet: {
    method: 'GET',
    path: '/pets/{petId}',
    tag: 'Animals',
    summary: 'Read one animal',
    description: 'Deprecated; will be sunset on 2030-12-05.',
    parameters: [PET_ID],
    replies: {
      200: { description: 'One animal.', body: { record: 'Animal' } },
      401: UNAUTHORIZED,
    },
    sunset: '2030-12-05',
  },
  listInventory: {
    method: 'GET',
    path: '/inventory',
    tag: 'Inventory',
    summary: 'List stock levels',
    description: 'The current stock level of every animal.',
    parameters: [],
    replies: {
      200: {
        description: 'An array of inventory entries.',
        body: { record: 'InventoryEntry', list: true },
      },
      401: UNAUTHORIZED,
    },
  },
  updateInventory: {
    method: 'PATCH',
    path: '/inventory/{petId}',
    tag: 'Inventory',
    summary: 'Set the stock quantity of one animal',
    description: 'Experimental. For new arrivals, returns and manual adjustments.',
    parameters: [PET_ID],
    body: { name: 'StockUpdate', shape: object({ quantity }, { open: true }) },
    replies: {
      200: { description: 'The updated entry.', body: { record: 'InventoryEntry' } },
      401: UNAUTHORIZED,
    },
    stability: 'experimental',
  },
  listOrders: {
    method: 'GET',
    path: '/store/orders',
    tag: 'Orders',
    summary: 'List all orders',
    description: 'The full set of orders: no filter, no pages.',
    parameters: [],
    replies: {
      200: { description: 'An array of orders.', body: { record: 'Order', list: true } },
      401: UNAUTHORIZED,
    },
    returnsAll: true,
  },
  cancelOrder: {
    method: 'DELETE',
    path: '/store/orders/{orderId}',
    tag: 'Orders',
    summary: 'Cancel an order',
    description: 'Only a pending order can be cancelled.',
    parameters: [
      {
        name: 'orderId',
        in: 'path',
        shape: INT64,
        description: 'The id of an order.',
        example: 1,
        finds: 'orders',
      },
    ],
    replies: {
      204: { description: 'The order is cancelled.' },
      401: UNAUTHORIZED,
      404: {
        description: 'No order has this id.',
        body: { record: 'Error' },
        way: { send: { id: UNKNOWN_ID }, scenario: 'no-orders' },
      },
      409: {
        description: 'The order has already shipped.',
        bodyNotShown: true,
        way: { arrange: ['PATCH /orders/1 {"status":"shipped"}'], scenario: 'shipped-orders' },
      },
    },
  },
} as const satisfies Record<string, OperationShape>;

/** When the sunset of `getPet` has passed: at the end of its last day. */
export const SUNSET_ENDS = Date.parse(OPERATIONS.getPet.sunset) + DAY_MS;

/** The id of an operation, such as `getPet`. */
export type OperationId = keyof typeof OPERATIONS;

export const OPERATION_IDS = rowNames(OPERATIONS);

export function operationShape(id: OperationId): OperationShape {
  return OPERATIONS[id];
}
