import { type ErrorCode, findErrorCodes, spellCode } from '../contract/error-codes.ts';
import { type OperationId, operationShape } from '../contract/operations.ts';
import type { RecordName } from '../contract/records.ts';
import { challenge, type World } from '../service/operation.ts';
import { conflictBody } from '../service/orders.ts';
import { deprecationHeaders } from '../service/pets.ts';
import type { Body, Reply } from '../service/reply.ts';

/**
 * The documented or assumed reply of an operation for a status. A status that neither knows has an
 * Error from 400 up, and no body below.
 */
export function cannedReply(
  world: World,
  operation: OperationId,
  status: number,
): Omit<Reply, 'basis'> {
  const headers = [...cannedHeaders(world, operation, status)];
  if (status < 400) return { status, headers, body: successBody(world, operation, status) };
  const [code = 'other_error'] = findErrorCodes(operation, status);
  return { status, headers, body: errorBodyOf(world, code, status) };
}

function errorBodyOf(world: World, code: ErrorCode, status: number): Body {
  const message = code.replaceAll('_', ' ');
  if (code === 'order_already_shipped') return conflictBody(world, code, message);
  const error = { code: spellCode(code, status, world.choices['error-codes']), message, status };
  return { kind: 'json', text: JSON.stringify(error) };
}

/** `Retry-After`, in seconds, if nothing else decides it. */
const RETRY_AFTER = '1';

function* cannedHeaders(world: World, operation: OperationId, status: number): Generator<string> {
  if (status === 401) yield* challenge(world.choices, true);
  if (status === 429 || status === 503) yield* ['Retry-After', RETRY_AFTER];
  if (operationShape(operation).sunset !== undefined) yield* deprecationHeaders(world.choices);
}

/** The documented body of a success, made of the first record in the store. */
function successBody(world: World, operation: OperationId, status: number): Body {
  const shown = operationShape(operation).replies[status]?.body;
  if (shown === undefined) return { kind: 'none' };
  const text = firstOf(world, shown.record);
  return { kind: 'json', text: shown.list ? `[${text}]` : text };
}

function firstOf({ store, represent }: World, record: RecordName): string {
  const [animal = { id: 1n, name: 'Bella', categoryId: 1n }] = store.animals.ascending();
  switch (record) {
    case 'InventoryEntry': {
      const empty = { petId: animal.id, quantity: 0, status: 'sold' };
      const [entry = empty] = store.inventory.ascending();
      return represent.inventoryEntry(entry);
    }
    case 'Order': {
      const [order = { id: 1n }] = store.orders.ascending();
      return represent.order(order);
    }
    case 'Animal':
    case 'Error': // never what a success shows
      return represent.animal(animal);
  }
}
