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
import { isObject, parseInput, tryParseJson, writeJson } from '../json.ts';
import { LIMITS } from '../limits.ts';
import { firstProblems } from '../problems.ts';
import { findHeader, findHeaders, mayHaveContent, withoutHeaders } from '../raw-http.ts';
import { effectOf, type ProxyFault } from '../scenario/fault-table.ts';
import type { RuleReply } from '../scenario/reply-shape.ts';
import type { Patch } from '../scenario/rule-shape.ts';
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
import { matchesWhere } from '../shape/record-shapes.ts';
import { pathText, type ValuePath } from '../shape/shapes.ts';
import { isRowName } from '../tables.ts';
import { describe } from '../words.ts';
import { bodyText } from './exchange.ts';

/** @param serviceReply of the service or a deployment; undefined if neither was asked */
export function forceReply(
  serviceState: ServiceState,
  call: Call | undefined,
  match: RuleMatch,
  serviceReply: Reply | undefined,
  isHead: boolean,
): Reply | undefined {
  const basis = { kind: 'forced', by: match.by } as const;
  const kind = match.fault?.kind ?? '';
  if (isRowName(PROXY_REPLIES, kind)) return { ...PROXY_REPLIES[kind], basis };
  if (match.reply !== undefined && call !== undefined) {
    const forced = { ...createForcedReply(serviceState, call, match.reply), basis };
    return markOffContract(forced, call.operation, match, undefined);
  }
  const { patch, fault } = match;
  const patched =
    patch && serviceReply && call ? patchReply(serviceReply, patch, basis, isHead) : serviceReply;
  const reply = fault === undefined ? patched : patched && { ...patched, basis };
  const isChanged = reply?.patched !== undefined && reply.basis.kind === 'forced';
  return isChanged && call ? markOffContract(reply, call.operation, match, serviceReply) : reply;
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

const PROXY_REPLIES: Readonly<Record<ProxyFault['kind'], Reply>> = {
  html: createReply(FORCED, 502, PROXY_PAGE, PROXY_HEADERS),
};

function createForcedReply(
  serviceState: ServiceState,
  call: Call,
  { status, headers, content }: RuleReply,
): Reply {
  if (content !== undefined) return createReply(FORCED, status, content, headers);
  const { operation } = call;
  // Runs the operation to get its present reply, and drops the resulting store.
  const serviceReply =
    status < 400 ? SERVICE[operation]({ ...serviceState, rates: NO_RATES }, call).reply : undefined;
  const known =
    serviceReply?.status === status
      ? serviceReply
      : createCannedReply(serviceState, operation, status);
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

/** A status below 400 that the operation does not document gets no body. */
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
    case 'Error': // No success has an Error; the compiler asks for the case.
      return represent.animal(animal);
  }
}

/** Adds to the basis what the document does not allow in a reply that a rule made or changed. */
function markOffContract(
  reply: Reply,
  operation: OperationId,
  { by, reply: forced, fault, declared = false }: RuleMatch,
  serviceReply: Reply | undefined,
): Reply {
  if (!effectOf(fault).isDelivered) return reply;
  // A rule without a body uses the service's, which needs no check.
  const isOwnBody = forced !== undefined && forced.content === undefined;
  const known = new Set(
    serviceReply === undefined ? [] : checkWhole(serviceReply, operation).map(deviationText),
  );
  const found = (isOwnBody ? checkStatus(reply.status, operation) : checkWhole(reply, operation))
    .map(deviationText)
    .filter((text) => !known.has(text));
  if (found.length === 0) return reply;
  const offContract = { problems: firstProblems(found, String), declared };
  return { ...reply, basis: { kind: 'forced', by, offContract } };
}

export function checkWhole(reply: Reply, operation: OperationId): readonly Deviation[] {
  const { status, size } = reply;
  const found = checkStatus(status, operation);
  if (size > LIMITS.patchedBody) return found;
  const body = bodyText(reply);
  const json = body === undefined ? undefined : tryParseJson(body);
  const inBody = checkBody({ status, headers: allHeaders(reply), body, json }, operation);
  return [...found, ...inBody.filter(isViolation)];
}

type Change = readonly [place: string | ValuePath, before: unknown, after: unknown];

/** Applies a rule's patch. Returns the same reply if that changes nothing. */
export function patchReply(reply: Reply, patch: Patch, basis: Basis, isHead = false): Reply {
  const { status = reply.status, headers: changed = [] } = patch;
  const isTooLarge = reply.size > LIMITS.patchedBody;
  // A deployment's reply to HEAD has no body, and a length only if the deployment sends one.
  const hasBody = mayHaveContent(status) && !(isHead && reply.body === undefined);
  const [before, after] = hasBody && !isTooLarge ? patchBody(bodyText(reply), patch) : [];
  const inBody = listChanges(before, after, []);
  const changes: readonly Change[] = [
    ['status', reply.status, status] as const,
    ...changed.map(({ name, values }): Change => {
      const earlier = findHeaders(allHeaders(reply), name.toLowerCase());
      return [`header ${name}`, joinValues(earlier), joinValues(values)];
    }),
    ...inBody,
  ].filter(([, old, next]) => old !== next);
  const texts = firstProblems(changes, formatChange);
  const patched = isTooLarge ? [...texts, TOO_LARGE] : texts;
  if (changes.length === 0) return isTooLarge ? { ...reply, patched } : reply;
  const isNew = inBody.length > 0;
  const names = changed.map(({ name }) => name.toLowerCase());
  const replaced = new Set(names);
  if (isNew) replaced.add('content-encoding');
  if (status !== reply.status) replaced.add('content-length');
  if (!mayHaveContent(status)) replaced.add('content-type');
  const added = changed.flatMap(({ name, values }) => values.flatMap((value) => [name, value]));
  const headers = [...withoutHeaders(reply.headers, replaced), ...added];
  const hadType = reply.size > 0 || findHeader(headers, 'content-type') !== undefined;
  const kept = names.includes('content-type') ? undefined : reply.mediaType;
  const content: Content = {
    body: isNew ? writeJson(after) : reply.body,
    mediaType: isNew && !hadType ? 'application/json' : kept,
  };
  return {
    ...createReply(basis, status, mayHaveContent(status) ? content : EMPTY, headers, reply.reason),
    phrase: status === reply.status ? reply.phrase : undefined,
    decoded: isNew ? undefined : reply.decoded,
    unknownPreference: reply.unknownPreference,
    comparison: reply.comparison,
    patched,
  };
}

const TOO_LARGE = `body: as it was, since it is larger than ${LIMITS.patchedBody} bytes`;

function joinValues(values: readonly string[]): string | undefined {
  return values.length === 0 ? undefined : values.join(', ');
}

function formatChange([place, before, after]: Change): string {
  const at = typeof place === 'string' ? place : pathText(place);
  return `${at}: ${describe(before)} → ${describe(after)}`;
}

/** The differences of two JSON values. A value that is replaced by an object is one change. */
function listChanges(before: unknown, after: unknown, at: ValuePath): readonly Change[] {
  if (before === after) return [];
  if (isObject(before) && isObject(after)) {
    const [old, next] = [before, after].map((it) => new Map(Object.entries(it)));
    const names = new Set([...(old?.keys() ?? []), ...(next?.keys() ?? [])]);
    return [...names].flatMap((name) =>
      listChanges(old?.get(name), next?.get(name), [...at, name]),
    );
  }
  if (Array.isArray(before) && Array.isArray(after) && before.length === after.length) {
    return before.flatMap((item, index) => listChanges(item, after[index], [...at, index]));
  }
  return writeJson(before) === writeJson(after) ? [] : [[at, before, after]];
}

/** Patches a JSON body. Any other body stays as it is. */
function patchBody(text: string | undefined, { body, each, items = [] }: Patch): unknown[] {
  const before = text === undefined ? undefined : tryParseJson(text, parseInput);
  if (text !== undefined && before === undefined) return [];
  const patchRecord = (record: unknown): unknown => {
    if (!isObject(record)) return record;
    const first = each === undefined ? record : mergePatch(record, each);
    return items.reduce(
      (after, { where, body: part }) =>
        isObject(after) && matchesWhere(after, where) ? mergePatch(after, part) : after,
      first,
    );
  };
  const whole = body === undefined ? before : mergePatch(before, body);
  return [before, Array.isArray(whole) ? whole.map(patchRecord) : patchRecord(whole)];
}

/** Applies a merge patch (RFC 7396, section 2). */
function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const members = new Map(isObject(target) ? Object.entries(target) : []);
  for (const [name, part] of Object.entries(patch)) {
    if (part === null) members.delete(name);
    else members.set(name, mergePatch(members.get(name), part));
  }
  return Object.fromEntries(members);
}
