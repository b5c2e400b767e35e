import { hashOf } from '../bytes.ts';
import { queryNames } from '../contract/assumption-table.ts';
import { OPERATION_IDS, type OperationId, operationShape } from '../contract/operations.ts';
import { unknownMembers } from '../contract/records.ts';
import { isObject } from '../json.ts';
import { LIMITS } from '../limits.ts';
import { findHeader, readRetryAfter } from '../raw-http.ts';
import type { Instant } from '../service/clock.ts';
import type { Call } from '../service/input.ts';
import type { ServiceState } from '../service/operation.ts';
import type { Reply } from '../service/reply.ts';
import { adviseMethod, type UnknownRoute } from '../service/unknown-route.ts';
import { describe, firstProblems } from '../words.ts';
import { type DecidedRequest, type Exchange, NONE, type ServiceRequest } from './exchange.ts';
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

const RETRY_WITHIN_MS = 60_000;

/** A call on another connection within this time after a reply may be parallel. */
const PARALLEL_MS = 50;

/** A timer of Node counts from the start of a turn of its loop, so on a busy machine it fires early. */
const TIMER_SLACK_MS = 50;

const TEMPORARY: ReadonlySet<number> = new Set([408, 425, 429]);

/** A call that its client should not simply send again: it was refused, or its reply was lost. */
interface RecentCall {
  readonly hash: string;
  readonly operation: OperationId;
  readonly port: number | undefined;
  /** When it was made, by the sandbox's clock. */
  readonly at: number;
  /** It was carried out, and its client may never get the reply. */
  readonly isUnanswered: boolean;
  /** When its client has the reply, by `steadyNow`; undefined if nobody knows that. */
  readonly sentAt: number | undefined;
  /** When its reply is lost; undefined as long as it can still arrive. */
  readonly lostAt: number | undefined;
  /** Set if the same call gets the same reply. */
  readonly finalStatus: number | undefined;
  /** What its reply said in `Retry-After`, in seconds. */
  readonly retryAfter: number | undefined;
}

/** At most one with a hash; the latest last. */
export type RecentCalls = readonly RecentCall[];

const MAX_RECENT = 16;

/** Whether a call repeats an earlier one that it should not, and what to remember of it. */
export function judgeRepetition(
  earlier: RecentCalls,
  { request, serviceState, received: reply, match, isCarriedOut, isDelivered }: DecidedRequest,
  now: Instant,
): { readonly findings: readonly FindingText[]; readonly recent: RecentCalls } {
  const { call } = request;
  const { delay = 0, hold } = match ?? {};
  const isUncertain = !isDelivered || delay > 0 || hold !== undefined;
  const isRefused = reply !== undefined && reply.status >= 400;
  if (call === undefined || (earlier.length === 0 && !isRefused && !isUncertain)) {
    return { findings: NONE, recent: earlier };
  }
  const { operation } = call;
  const { method, tag } = operationShape(operation);
  // To set the same quantity again does no harm.
  const isUnanswered = isCarriedOut && isUncertain && (method === 'POST' || method === 'DELETE');
  const isSent = hold === undefined;
  const latest: RecentCall = {
    hash: hashCall(request, call.body.kind === 'bytes' ? call.body.bytes : ''),
    operation,
    port: request.port,
    at: serviceState.now,
    isUnanswered,
    ...foreseeReply(isSent, now.steady + delay, isDelivered),
    finalStatus: isSent && reply && isFinal(reply) ? reply.status : undefined,
    retryAfter:
      isSent && reply && reply.status >= 300
        ? readRetryAfter(reply.headers, serviceState.now) || undefined
        : undefined,
  };
  // Who looks before sending again does not do so blindly.
  const isLook = method === 'GET' && isCarriedOut && !isUncertain;
  const others = (isSent ? dropFinal(earlier) : earlier).filter(
    (other) =>
      other.hash !== latest.hash &&
      !(isLook && other.isUnanswered && operationShape(other.operation).tag === tag),
  );
  const isKept = isUnanswered || (latest.finalStatus ?? latest.retryAfter) !== undefined;
  const first = earlier.find(({ hash }) => hash === latest.hash);
  return {
    findings: first ? findRepetition(first, latest, method, request.receivedAt) : NONE,
    recent: isKept ? [...others, latest].slice(-MAX_RECENT) : others,
  };
}

/**
 * When a reply arrives or is lost, as far as that is known when the call is answered. While a hold lasts,
 * nothing is known, whatever follows it. Without one the reply is sent when it is `due`, after its delay,
 * and a fault loses it then. `noteLostReply` adds what nobody could foresee.
 */
function foreseeReply(
  isSent: boolean,
  due: number,
  isDelivered: boolean,
): Pick<RecentCall, 'sentAt' | 'lostAt'> {
  return {
    sentAt: isSent ? due : undefined,
    lostAt: isSent && !isDelivered ? due : undefined,
  };
}

/** A changed sandbox may accept any call that it refused before. */
export function dropFinal(recent: RecentCalls): RecentCalls {
  const isDropped = ({ finalStatus, retryAfter }: RecentCall) =>
    finalStatus !== undefined && retryAfter === undefined;
  return recent.some(isDropped) ? recent.filter((call) => !isDropped(call)) : recent;
}

function findRepetition(
  first: RecentCall,
  { port, finalStatus, at }: RecentCall,
  method: string,
  receivedAt: number,
): readonly FindingText[] {
  const findings: FindingText[] = [];
  const add = (code: FindingCode, message: string): void => void findings.push({ code, message });
  // No time is before or after one that is not known.
  const { sentAt = Number.NaN, lostAt = Number.NaN, isUnanswered, retryAfter = 0 } = first;
  // One that came before the loss was sent beside the first.
  if (isUnanswered && receivedAt > lostAt && receivedAt < lostAt + RETRY_WITHIN_MS) {
    const why = 'the first was carried out: only its reply was lost';
    add('blind-retry', `The same ${method} was sent again although ${why}.`);
  }
  // The client could have read the first reply.
  if (receivedAt <= sentAt + (port === first.port ? 0 : PARALLEL_MS)) return findings;
  const isSoon = receivedAt < sentAt + RETRY_WITHIN_MS;
  if (isSoon && finalStatus !== undefined && first.finalStatus === finalStatus) {
    const why = `a ${finalStatus} that a retry cannot change`;
    add('pointless-retry', `The same call was repeated after ${why}.`);
  }
  // Waiting by either clock is enough.
  const wait = retryAfter * 1000 - TIMER_SLACK_MS;
  if (at < first.at + wait && receivedAt < sentAt + wait) {
    add('early-retry', `The call was repeated before Retry-After (${retryAfter} s) had passed.`);
  }
  return findings;
}

/** The client has left before its reply was sent, or a fault breaks a reply whose hold has ended. */
export function noteLostReply(
  recent: RecentCalls,
  exchange: Exchange,
  { steady: lostAt }: Instant,
): RecentCalls {
  const hash = hashCall(exchange, exchange.request.body ?? '');
  const isMeant = (call: RecentCall) =>
    call.hash === hash && lostAt < (call.lostAt ?? Number.POSITIVE_INFINITY);
  return recent.some(isMeant)
    ? recent.map((call) => (isMeant(call) ? { ...call, sentAt: undefined, lostAt } : call))
    : recent;
}

function isFinal({ status, basis: { kind } }: Reply): boolean {
  if (status < 400 || status >= 500 || TEMPORARY.has(status)) return false;
  return kind === 'documented' || kind === 'assumed';
}

/** Short, however long the call is. */
function hashCall(
  { method, target, authorization }: Pick<ServiceRequest, 'method' | 'target' | 'authorization'>,
  body: string | Uint8Array,
): string {
  return hashOf(`${method} ${target}\n${authorization}\n`, body);
}
