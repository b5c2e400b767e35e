import { ADDED_REPLIES } from './assumption-table.ts';
import { OPERATION_IDS, type OperationId, operationShape } from './operations.ts';

/** A status that an operation can answer with. */
export interface KnownReply {
  readonly operation: OperationId;
  readonly status: number;
  readonly description: string;
  /** The options that lead to it, as `id=option`; none if the document prescribes it. */
  readonly grounds: readonly string[];
}

/** The replies that the document prescribes. */
export const DOCUMENTED_REPLIES: readonly KnownReply[] = OPERATION_IDS.flatMap((operation) =>
  Object.entries(operationShape(operation).replies).map(([status, { description }]) => ({
    operation,
    status: Number(status),
    description,
    grounds: [],
  })),
);

/** The replies that fill gaps of the document, under all options. */
export const ASSUMED_REPLIES: readonly KnownReply[] = OPERATION_IDS.flatMap((operation) => {
  const added = ADDED_REPLIES.filter((it) => it.operation === operation);
  const statuses = new Set(added.map(({ status }) => status));
  return [...statuses]
    .sort((a, b) => a - b)
    .map((status) => {
      const here = added.filter((it) => it.status === status);
      const [{ description = '' } = {}] = here;
      return { operation, status, description, grounds: here.map(({ ground }) => ground) };
    });
});

/** A case that the document distinguishes within a reply. */
export interface DocumentedCase {
  /** Unique within the reply. */
  readonly id: string;
  readonly operation: OperationId;
  readonly status: number;
  readonly sentence: string;
}

/** The cases of a reply. A case of several operations has the same id in each. */
const of = (
  operation: OperationId,
  status: number,
  sentences: Readonly<Record<string, string>>,
): DocumentedCase[] =>
  Object.entries(sentences).map(([id, sentence]) => ({ id, operation, status, sentence }));

/** For every operation: "Missing or invalid API key". */
const UNAUTHORIZED = {
  'key-missing': 'No API key is sent.',
  'key-invalid': 'An API key is sent, but it is invalid.',
};

const ENTRY = {
  'entry-available': 'An inventory entry has the status available.',
  'entry-sold': 'An inventory entry has the status sold.',
  'entry-unseen-status': 'An inventory entry has a status that the document has not seen.',
};

/** The cases within replies that the document distinguishes. */
export const DOCUMENTED_CASES: readonly DocumentedCase[] = [
  of('listPets', 200, {
    'limit-absent': 'No limit is given, so the page has at most 20 animals.',
    'limit-1': 'The smallest limit, 1.',
    'limit-between': 'A limit from 2 to 99.',
    'limit-100': 'The largest limit, 100.',
    'filter-unused': 'The call does not filter by status.',
    'filter-used': 'The call asks for animals with one status only.',
    'page-empty': 'There is no animal on the page.',
    'page-available': 'An animal on the page has the status available.',
    'page-pending': 'An animal on the page has the status pending.',
    'page-sold': 'An animal on the page has the status sold.',
    'page-without-status': 'An animal on the page has no status, which is optional.',
    'page-unseen-status': 'An animal on the page has a status that the document has not seen.',
    'page-large-id': 'An id on the page is beyond 2^53, where a double rounds it.',
  }),
  of('listPets', 401, UNAUTHORIZED),
  of('createPet', 201, {
    'created-with-status': 'The animal is created with a status.',
    'created-without-status': 'The animal is created without a status, which is optional.',
    'created-large-id': 'An id of the animal is beyond 2^53, where a double rounds it.',
  }),
  of('createPet', 401, UNAUTHORIZED),
  of('getPet', 200, {
    'pet-available': 'The animal has the status available.',
    'pet-pending': 'The animal has the status pending.',
    'pet-sold': 'The animal has the status sold.',
    'pet-without-status': 'The animal has no status, which is optional.',
    'pet-unseen-status': 'The animal has a status that the document has not seen.',
    'pet-sunset': 'The reply says in its Sunset header when the operation ends.',
    'pet-large-id': 'An id of the animal is beyond 2^53, where a double rounds it.',
  }),
  of('getPet', 401, UNAUTHORIZED),
  of('listInventory', 200, {
    'inventory-empty': 'There is no inventory entry.',
    ...ENTRY,
    'inventory-large-id': 'A petId is beyond 2^53, where a double rounds it.',
  }),
  of('listInventory', 401, UNAUTHORIZED),
  of('updateInventory', 200, {
    'quantity-0': 'The quantity is set to 0.',
    'quantity-above': 'The quantity is set to more than 0.',
    ...ENTRY,
    'inventory-large-id': 'The petId is beyond 2^53, where a double rounds it.',
  }),
  of('updateInventory', 401, UNAUTHORIZED),
  of('listOrders', 200, {
    'orders-empty': 'There is no order.',
    'order-all-fields': 'An order has all its fields.',
    'order-absent-fields': 'An order lacks fields: all of them are optional.',
    'order-complete': 'An order is complete.',
    'order-incomplete': 'An order is not complete.',
    'order-large-id': 'An id of an order is beyond 2^53, where a double rounds it.',
  }),
  of('listOrders', 401, UNAUTHORIZED),
  of('cancelOrder', 204, {
    'cancelled-large-id': 'The orderId is beyond 2^53, where a double rounds it.',
  }),
  of('cancelOrder', 401, UNAUTHORIZED),
  of('cancelOrder', 409, {
    'order-shipped': 'The order has shipped, rather than been cancelled before.',
  }),
].flat();
