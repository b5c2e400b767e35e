import {
  checkBody,
  checkStatus,
  type Deviation,
  deviationText,
  isViolation,
} from '../contract/check-reply.ts';
import { type ErrorCode, findErrorCodes } from '../contract/error-codes.ts';
import { type OperationId, operationShape } from '../contract/operations.ts';
import type { RecordName } from '../contract/records.ts';
import { tryParseJson } from '../json.ts';
import { LIMITS } from '../limits.ts';
import { withoutHeaders } from '../raw-http.ts';
import { hasEffect, isDelivered } from '../scenario/fault-table.ts';
import type { RuleReply } from '../scenario/reply-shape.ts';
import type { RuleMatch } from '../scenario/rules.ts';
import type { Call } from '../service/input.ts';
import { NO_RATES } from '../service/keyring.ts';
import { challenge, type ServiceState } from '../service/operation.ts';
import { conflictContent } from '../service/orders.ts';
import { deprecationHeaders } from '../service/pets.ts';
import {
  allHeaders,
  type Basis,
  type Content,
  createReply,
  EMPTY,
  errorContent,
  jsonBody,
  type Reply,
  retryHeaders,
} from '../service/reply.ts';
import { SERVICE } from '../service/service.ts';
import { firstProblems } from '../words.ts';
import { bodyText } from './exchange.ts';
import { patchReply } from './patch-reply.ts';

/** @param own undefined if neither the service nor a deployment was asked */
export function forceReply(
  serviceState: ServiceState,
  call: Call | undefined,
  match: RuleMatch,
  own: Reply | undefined,
  isHead: boolean,
): Reply | undefined {
  const basis = { kind: 'forced', by: match.by } as const;
  if (hasEffect(match.fault, 'substitutes'))
    return createReply(basis, 502, PROXY_PAGE, PROXY_HEADERS);
  if (match.reply !== undefined && call !== undefined) {
    const forced = { ...createForcedReply(serviceState, call, match.reply), basis };
    return markOffContract(forced, call.operation, match, undefined);
  }
  const { patch, fault } = match;
  const patched = patch && own && call ? patchReply(own, patch, basis, isHead) : own;
  const reply = fault === undefined ? patched : patched && { ...patched, basis };
  const isChanged = reply?.patched !== undefined && reply.basis.kind === 'forced';
  return isChanged && call ? markOffContract(reply, call.operation, match, own) : reply;
}

const PROXY_HEADERS = ['Server', 'proxy', 'Content-Type', 'text/html', 'Connection', 'close'];
const PROXY_PAGE: Content = {
  mediaType: undefined,
  body: `<html>
<head><title>502 Bad Gateway</title></head>
<body>
<center><h1>502 Bad Gateway</h1></center>
<hr><center>proxy</center>
</body>
</html>
`,
};

const FORCED: Basis = { kind: 'forced', by: '' };

function createForcedReply(
  serviceState: ServiceState,
  call: Call,
  { status, headers, content }: RuleReply,
): Reply {
  if (content !== undefined) return createReply(FORCED, status, content, headers);
  const { operation } = call;
  // What the service itself replies now.
  const own =
    status < 400 ? SERVICE[operation]({ ...serviceState, rates: NO_RATES }, call).reply : undefined;
  const known = own?.status === status ? own : createCannedReply(serviceState, operation, status);
  const names = headers.filter((_, at) => at % 2 === 0).map((name) => name.toLowerCase());
  return { ...known, headers: [...withoutHeaders(known.headers, new Set(names)), ...headers] };
}

function createCannedReply(serviceState: ServiceState, id: OperationId, status: number): Reply {
  const { choices } = serviceState;
  const code = findErrorCodes(id, status)[0] ?? 'other_error';
  const headers = [
    ...(status === 401 ? challenge(choices, true) : []),
    ...retryHeaders(code),
    ...(operationShape(id).sunset === undefined ? [] : deprecationHeaders(choices)),
  ];
  const content =
    status < 400
      ? createSuccessContent(serviceState, id, status)
      : createErrorContent(serviceState, code, status);
  return createReply(FORCED, status, content, headers);
}

function createErrorContent(serviceState: ServiceState, code: ErrorCode, status: number): Content {
  const message = code.replaceAll('_', ' ');
  return code === 'order_already_shipped'
    ? conflictContent(serviceState, code, message)
    : errorContent(serviceState.choices, code, status, message);
}

/** A status that no operation has gets no body below 400. */

function createSuccessContent(
  serviceState: ServiceState,
  id: OperationId,
  status: number,
): Content {
  const shown = operationShape(id).replies[status]?.body;
  if (shown === undefined) return EMPTY;
  const text = formatFirst(serviceState, shown.record);
  return jsonBody(shown.list ? `[${text}]` : text);
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

/** A reply that a rule has made or changed, with what the document does not allow in it. */
function markOffContract(
  reply: Reply,
  operation: OperationId,
  { by, reply: forced, fault, isMeant = false }: RuleMatch,
  own: Reply | undefined,
): Reply {
  if (!isDelivered(fault)) return reply;
  // Without content of its own, a rule has the body of the service.
  const isOwnBody = forced !== undefined && forced.content === undefined;
  const known = new Set(own === undefined ? [] : checkWhole(own, operation).map(deviationText));
  const found = (isOwnBody ? checkStatus(reply.status, operation) : checkWhole(reply, operation))
    .map(deviationText)
    .filter((text) => !known.has(text));
  if (found.length === 0) return reply;
  const offContract = { problems: firstProblems(found, String), isMeant };
  return { ...reply, basis: { kind: 'forced', by, offContract } };
}

/** What the document does not allow in a reply. */
export function checkWhole(reply: Reply, operation: OperationId): readonly Deviation[] {
  const { status, size } = reply;
  const found = checkStatus(status, operation);
  if (size > LIMITS.patchedBody) return found;
  const body = bodyText(reply);
  const json = body === undefined ? undefined : tryParseJson(body);
  const inBody = checkBody({ status, headers: allHeaders(reply), body, json }, operation);
  return [...found, ...inBody.filter(isViolation)];
}
