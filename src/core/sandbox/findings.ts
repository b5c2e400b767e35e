import { queryNames } from '../contract/assumption-table.ts';
import { OPERATION_IDS, type OperationId, operationShape } from '../contract/operations.ts';
import { unknownMembers } from '../contract/records.ts';
import { isObject } from '../json.ts';
import { LIMITS } from '../limits.ts';
import { firstProblems } from '../problems.ts';
import { findHeader } from '../raw-http.ts';
import type { Call } from '../service/input.ts';
import type { ServiceState } from '../service/operation.ts';
import type { Reply } from '../service/reply.ts';
import { adviseMethod, type UnknownRoute } from '../service/unknown-route.ts';
import { describe } from '../words.ts';
import { type DecidedRequest, NONE } from './exchange.ts';
import type { FindingCode, FindingText } from './report-shapes.ts';

const ALWAYS_FOUND = new Map(OPERATION_IDS.map((id) => [id, findInOperation(id)]));

function findInOperation(id: OperationId): readonly FindingText[] {
  const { sunset, stability } = operationShape(id);
  const deprecated = `${id} is deprecated: its sunset is ${sunset}.`;
  return [
    ...(sunset ? [{ code: 'deprecated' as const, message: deprecated }] : []),
    ...(stability ? [{ code: 'experimental' as const, message: `${id} is ${stability}.` }] : []),
  ];
}

export function findInRequest(decided: DecidedRequest): readonly FindingText[] {
  const { call, route } = decided.request;
  if (call !== undefined) return findInCall(call, decided.received, decided.serviceState);
  return route === undefined ? NONE : findUnmatched(route);
}

function findInCall(
  call: Call,
  reply: Reply | undefined,
  serviceState: ServiceState,
): readonly FindingText[] {
  const always = ALWAYS_FOUND.get(call.operation) ?? NONE;
  const isSuccess = reply !== undefined && reply.status < 400;
  const { method, body, returnsAll } = operationShape(call.operation);
  const isIgnored = returnsAll && call.query.length > 0;
  // A documented success: no unknown input can have decided it.
  const isPlain = isSuccess && reply.basis.kind === 'documented' && !isIgnored;
  const key = describePlaceholder(call.authorization);
  const hasBody = body === undefined && hasContent(call);
  const preference = reply?.unknownPreference;
  if (isPlain && key === undefined && !hasBody && preference === undefined) return always;
  const findings = [...always];
  const add = (code: FindingCode, message: string | undefined): void => {
    if (message !== undefined) findings.push({ code, message });
  };
  add('placeholder-key', key);
  if (hasBody) add('unexpected-body', `A ${method} was sent with a body.`);
  add('unknown-preference', preference && `${preference}.`);
  if (!isPlain) {
    for (const input of listUnknownInputs(call, serviceState, reply)) {
      add('unknown-input', `The ${input} is unknown to ${call.operation}.`);
    }
    add('drift', describeDrift(reply));
  }
  const isRefused = reply !== undefined && !isSuccess && isFinal(reply);
  if (isRefused && reply.status !== 401 && reply.status !== 403) {
    const near = findNearRoundedId(call, serviceState);
    const message = `${call.pathId} is unknown; ${near} exists and rounds to the same double.`;
    if (near !== undefined) add('rounded-id', message);
  }
  return findings;
}

function hasContent({ body, headers }: Call): boolean {
  return body.kind !== 'none' || (findHeader(headers, 'content-length') ?? '0') !== '0';
}

/** Placeholders for a key: a second `Bearer`, an unset variable, or an unfilled template. */
const PLACEHOLDER =
  /^Bearer +(?:(Bearer)(?:\s|$)|(undefined|null|none|<?nil>?|\[object Object\]|\$\{[^}]*\}|<?your[-_ ]?api[-_ ]?key>?)\s*$)/i;

function describePlaceholder(authorization: string | undefined): string | undefined {
  const found = authorization === undefined ? null : PLACEHOLDER.exec(authorization);
  if (found === null) return undefined;
  const [, scheme, key] = found;
  return scheme ? 'The key begins with a second `Bearer`.' : `The key is literally \`${key}\`.`;
}

function findUnmatched({ method, allow, hint }: UnknownRoute): readonly FindingText[] {
  if (allow === undefined) {
    return [{ code: 'unmatched', message: `No operation has this path${hint}.` }];
  }
  if (method === 'OPTIONS') return NONE;
  return [{ code: 'unmatched', message: `${adviseMethod(method, allow)}.` }];
}

/** Statuses that are sent before the body is parsed. */
const UNPARSED: ReadonlySet<number | undefined> = new Set([401, 415]);

function listUnknownInputs(
  { operation, query, body }: Call,
  { choices }: ServiceState,
  reply: Reply | undefined,
): string[] {
  const shape = operationShape(operation);
  const known = new Set(queryNames(operation, choices));
  const parameters = [...new Set(query.map(([name]) => name))].filter((name) => !known.has(name));
  const { members: fields } = shape.body?.shape ?? {};
  const isParsed = fields !== undefined && body.kind === 'bytes' && !UNPARSED.has(reply?.status);
  const value = isParsed && body.json.ok ? body.json.value : undefined;
  const members = fields !== undefined && isObject(value) ? unknownMembers(fields, value) : [];
  return [
    ...parameters.slice(0, LIMITS.problems).map((name) => `query parameter ${describe(name)}`),
    ...members.slice(0, LIMITS.problems).map((name) => `body field ${describe(name)}`),
  ].slice(0, LIMITS.problems);
}

function describeDrift(reply: Reply | undefined): string | undefined {
  const drift = reply?.comparison?.drift ?? [];
  return drift.length === 0 ? undefined : `${firstProblems(drift, String).join('; ')}.`;
}

/** The largest distance of an int64 from its double, which may be written in fewer digits. */
const MAX_ROUNDING = 2048n;

function findNearRoundedId(
  { operation, pathId = '' }: Call,
  { store }: ServiceState,
): bigint | undefined {
  const collection = operationShape(operation).parameters.find((it) => it.finds)?.finds;
  const double = Number(pathId);
  if (collection === undefined || !isRounded(pathId, double)) return undefined;
  const middle = BigInt(double);
  for (const { id } of store[collection].ascending(middle - MAX_ROUNDING)) {
    if (id > middle + MAX_ROUNDING) break;
    // The record exists, so the call was refused for another reason.
    if (String(id) === pathId) return undefined;
    if (Number(id) === double && !Number.isSafeInteger(Number(id))) return id;
  }
  return undefined;
}

function isRounded(text: string, double: number): boolean {
  if (!Number.isInteger(double) || Number.isSafeInteger(double)) return false;
  // A fraction or an exponent comes from a double. A rounded id has its shortest digits, or all.
  return /[.eE]/.test(text) || text === String(double) || text === String(BigInt(double));
}

const TEMPORARY: ReadonlySet<number> = new Set([408, 425, 429]);

/** Whether the same call would get the same reply again. */
export function isFinal({ status, basis: { kind } }: Reply): boolean {
  if (status < 400 || status >= 500 || TEMPORARY.has(status)) return false;
  return kind === 'documented' || kind === 'assumed';
}
