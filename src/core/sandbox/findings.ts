import { queryNames } from '../contract/assumption-table.ts';
import { OPERATION_IDS, type OperationId, operationShape } from '../contract/operations.ts';
import { unknownMembers } from '../contract/records.ts';
import { hashOf } from '../hash.ts';
import { isObject } from '../json.ts';
import { LIMITS } from '../limits.ts';
import { findHeader } from '../raw-http.ts';
import type { Instant } from '../service/clock.ts';
import type { Call } from '../service/input.ts';
import { adviseMethod, type ServiceState, type UnknownRoute } from '../service/operation.ts';
import type { Reply } from '../service/reply.ts';
import { describe, firstProblems } from '../words.ts';
import type { DecidedRequest, ServiceRequest } from './exchange.ts';
import type { FindingCode, FindingText } from './report-shapes.ts';

const NONE: readonly never[] = [];

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
  if (call !== undefined) return findInCall(call, decided.shown, decided.serviceState);
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
  // Documented, so no unknown input decided it.
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

/** A second scheme, an empty variable as text, or an unfilled template. */
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

/** Statuses that refuse a request before its body is parsed. */
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

/** The largest distance of an int64 from its double, shortened digits included. */
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
    // It was refused for another reason.
    if (String(id) === pathId) return undefined;
    if (Number(id) === double && !Number.isSafeInteger(Number(id))) return id;
  }
  return undefined;
}

function isRounded(text: string, double: number): boolean {
  if (!Number.isInteger(double) || Number.isSafeInteger(double)) return false;
  // An exponent or a point means a double; else it has the shortest digits, or all.
  return /[.eE]/.test(text) || text === String(double) || text === String(BigInt(double));
}

export const RETRY_WITHIN_MS = 60_000;

const MAX_RETRIES = 16;

/** A call on another connection within this time after a reply may be parallel. */
const PARALLEL_MS = 50;

/** Of the steady clock, in milliseconds since 1970: other servers compare instants. */
export const TIME_ORIGIN = performance.timeOrigin;

const TEMPORARY: ReadonlySet<number> = new Set([408, 425, 429]);

interface RefusedCall {
  readonly hash: string;
  readonly port: number | undefined;
  /** Set if a retry gets the same reply. */
  readonly finalStatus: number | undefined;
  /** In seconds. */
  readonly retryAfter: number | undefined;
  /** By the sandbox's clock. */
  readonly at: number;
  /** In milliseconds since 1970. */
  readonly leftAt: number;
}

export type Retries = readonly RefusedCall[];

export const NO_RETRIES: Retries = [];

export function judgeRetry(
  earlier: Retries,
  decided: DecidedRequest,
  now: Instant,
): { readonly findings: readonly FindingText[]; readonly retries: Retries } {
  const { request, serviceState, shown: reply, match } = decided;
  if (earlier.length === 0 && (reply === undefined || reply.status < 400)) {
    return { findings: NONE, retries: earlier };
  }
  const body = request.call?.body;
  const refused: RefusedCall = {
    hash: hashCall(request, body?.kind === 'bytes' ? body.bytes : ''),
    port: request.port,
    finalStatus: reply && isFinal(reply) ? reply.status : undefined,
    retryAfter: readRetryAfter(reply, serviceState.now),
    at: serviceState.now,
    leftAt: TIME_ORIGIN + now.steady + (match?.delay ?? 0),
  };
  const others = dropFinal(earlier).filter(({ hash }) => hash !== refused.hash);
  const isKept = (refused.finalStatus ?? refused.retryAfter) !== undefined;
  return {
    findings: findRetries(refused, earlier, TIME_ORIGIN + request.receivedAt),
    retries: isKept ? [...others, refused].slice(-MAX_RETRIES) : others,
  };
}

/** A changed sandbox may accept any call it refused before. */
export function dropFinal(retries: Retries): Retries {
  const isFound = retries.some(({ retryAfter }) => retryAfter === undefined);
  return isFound ? retries.filter(({ retryAfter }) => retryAfter !== undefined) : retries;
}

/** A timer of Node counts from the start of a turn of its loop, so on a busy machine it fires early. */
const TIMER_SLACK_MS = 50;

function findRetries(
  { hash, port, finalStatus, at }: RefusedCall,
  earlier: Retries,
  receivedAt: number,
): readonly FindingText[] {
  // The client could have read the first reply.
  const first = earlier.find(
    (other) =>
      other.hash === hash && receivedAt > other.leftAt + (port === other.port ? 0 : PARALLEL_MS),
  );
  if (first === undefined) return NONE;
  const findings: FindingText[] = [];
  const isSame = finalStatus !== undefined && first.finalStatus === finalStatus;
  if (isSame && receivedAt < first.leftAt + RETRY_WITHIN_MS) {
    const message = `The same call was repeated after a ${finalStatus} that a retry cannot change.`;
    findings.push({ code: 'pointless-retry', message });
  }
  const { retryAfter = 0 } = first;
  // Waiting by either clock is enough.
  const wait = retryAfter * 1000 - TIMER_SLACK_MS;
  if (at < first.at + wait && receivedAt < first.leftAt + wait) {
    const message = `The call was repeated before Retry-After (${retryAfter} s) had passed.`;
    findings.push({ code: 'early-retry', message });
  }
  return findings;
}

function isFinal({ status, basis: { kind } }: Reply): boolean {
  if (status < 400 || status >= 500 || TEMPORARY.has(status)) return false;
  return kind === 'documented' || kind === 'assumed';
}

function readRetryAfter(reply: Reply | undefined, now: number): number | undefined {
  if (reply === undefined || reply.status < 300) return undefined;
  const value = findHeader(reply.headers, 'retry-after') ?? '';
  const seconds = /^\d+$/.test(value) ? Number(value) : (Date.parse(value) - now) / 1000;
  return seconds > 0 ? seconds : undefined;
}

/** Short, however long the call is. */
export function hashCall(
  { method, target, authorization }: Pick<ServiceRequest, 'method' | 'target' | 'authorization'>,
  body: string | Uint8Array,
): string {
  return hashOf(`${method} ${target}\n${authorization}\n`, body);
}
