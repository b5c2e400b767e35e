import { type ErrorCode, findErrorCodes, spellCode } from '../contract/error-codes.ts';
import { type OperationId, operationShape } from '../contract/operations.ts';
import type { RecordName } from '../contract/records.ts';
import { withoutHeaders } from '../raw-http.ts';
import type { RuleReply } from '../scenario/reply-shape.ts';
import { challenge, type Operation, type ServiceState } from '../service/operation.ts';
import { conflictBody } from '../service/orders.ts';
import { deprecationHeaders } from '../service/pets.ts';
import type { Body, Reply } from '../service/reply.ts';

type BareReply = Omit<Reply, 'basis'>;

/**
 * What a rule or a `Prefer` header replies.
 *
 * @param runOperation what the service itself replies now
 */
export function createForcedReply(
  serviceState: ServiceState,
  id: OperationId,
  { status, headers, body }: RuleReply,
  runOperation: () => ReturnType<Operation>,
): BareReply {
  if (body !== undefined) return { status, headers, body };
  const own = status < 400 ? runOperation().reply : undefined;
  const known = own?.status === status ? own : createCannedReply(serviceState, id, status);
  const names = headers.filter((_, at) => at % 2 === 0).map((name) => name.toLowerCase());
  return { ...known, headers: [...withoutHeaders(known.headers, new Set(names)), ...headers] };
}

/**
 * The documented or assumed reply of an operation for a status. A status that neither knows has an
 * Error from 400 up, and no body below.
 */
function createCannedReply(serviceState: ServiceState, id: OperationId, status: number): BareReply {
  const { choices } = serviceState;
  const headers = [
    ...(status === 401 ? challenge(choices, true) : []),
    ...(status === 429 || status === 503 ? ['Retry-After', RETRY_AFTER_S] : []),
    ...(operationShape(id).sunset === undefined ? [] : deprecationHeaders(choices)),
  ];
  if (status < 400) return { status, headers, body: createSuccessBody(serviceState, id, status) };
  const [code = 'other_error'] = findErrorCodes(id, status);
  return { status, headers, body: createErrorBody(serviceState, code, status) };
}

const RETRY_AFTER_S = '1';

function createErrorBody(serviceState: ServiceState, code: ErrorCode, status: number): Body {
  const message = code.replaceAll('_', ' ');
  if (code === 'order_already_shipped') return conflictBody(serviceState, code, message);
  const error = {
    code: spellCode(code, status, serviceState.choices['error-codes']),
    message,
    status,
  };
  return { kind: 'json', text: JSON.stringify(error) };
}

function createSuccessBody(serviceState: ServiceState, id: OperationId, status: number): Body {
  const shown = operationShape(id).replies[status]?.body;
  if (shown === undefined) return { kind: 'none' };
  const text = formatFirst(serviceState, shown.record);
  return { kind: 'json', text: shown.list ? `[${text}]` : text };
}

function formatFirst({ store, represent }: ServiceState, record: RecordName): string {
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
