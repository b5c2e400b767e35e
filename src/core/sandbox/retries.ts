import { hashOf } from '../bytes.ts';
import { type OperationId, operationShape } from '../contract/operations.ts';
import { readRetryAfter } from '../raw-http.ts';
import type { Instant } from '../service/clock.ts';
import { type DecidedRequest, type Exchange, NONE, type ServiceRequest } from './exchange.ts';
import { isFinal } from './findings.ts';
import type { FindingCode, FindingText } from './report-shapes.ts';

const RETRY_WITHIN_MS = 60_000;

/** A call on another connection this soon after a reply may have been sent in parallel. */
const PARALLEL_MS = 50;

/** Node counts timers from the start of an event loop turn, so under load they fire early. */
const TIMER_SLACK_MS = 50;

/** A call that should not simply be repeated: it was refused, or its reply may be lost. */
interface RecentCall {
  readonly hash: string;
  readonly operation: OperationId;
  readonly port: number | undefined;
  /** When it was made, on the sandbox's clock. */
  readonly at: number;
  /** Whether the operation ran, and its reply may never arrive. */
  readonly isUnanswered: boolean;
  /** When the client gets the reply, by `steadyNow`; undefined while that is unknown. */
  readonly sentAt: number | undefined;
  /** When the reply is lost; undefined if it can still arrive. */
  readonly lostAt: number | undefined;
  /** The status, if repeating the call cannot change it. */
  readonly finalStatus: number | undefined;
  /** The seconds in the reply's `Retry-After`. */
  readonly retryAfter: number | undefined;
}

/** The latest call is last. No two have the same hash. */
export type RecentCalls = readonly RecentCall[];

const MAX_RECENT = 16;

/**
 * Compares a call with the client's earlier ones. Returns findings, and the calls to remember.
 *
 * Remembered are the last 16 calls that were refused or whose reply may be lost. Repeating one is a
 * finding if the client could know better: `pointless-retry` after a status that stays,
 * `early-retry` before `Retry-After`, `blind-retry` after a POST or DELETE that was carried out and
 * whose reply was lost. Where the reply is held or its client leaves early, `noteLostReply` adds
 * the loss later.
 */
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
  // Setting the same quantity again (PATCH) does no harm.
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
  // A client that reads the records first does not repeat the call blindly.
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

/** When the reply arrives, or is lost by a fault. Neither is known while the reply is held. */
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

/** Forgets refusals without `Retry-After`, since a changed sandbox may accept the same call. */
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
  // Comparisons with NaN are false, so an unknown time yields no finding.
  const { sentAt = Number.NaN, lostAt = Number.NaN, isUnanswered, retryAfter = 0 } = first;
  // A call that arrived before the loss was sent in parallel to the first.
  if (isUnanswered && receivedAt > lostAt && receivedAt < lostAt + RETRY_WITHIN_MS) {
    const why = 'the first was carried out: only its reply was lost';
    add('blind-retry', `The same ${method} was sent again although ${why}.`);
  }
  // The client may not have read the first reply yet.
  if (receivedAt <= sentAt + (port === first.port ? 0 : PARALLEL_MS)) return findings;
  const isSoon = receivedAt < sentAt + RETRY_WITHIN_MS;
  if (isSoon && finalStatus !== undefined && first.finalStatus === finalStatus) {
    const why = `a ${finalStatus} that a retry cannot change`;
    add('pointless-retry', `The same call was repeated after ${why}.`);
  }
  // Waiting long enough by either clock suffices: the sandbox's, or the real one.
  const wait = retryAfter * 1000 - TIMER_SLACK_MS;
  if (at < first.at + wait && receivedAt < sentAt + wait) {
    add('early-retry', `The call was repeated before Retry-After (${retryAfter} s) had passed.`);
  }
  return findings;
}

/** Marks a reply as lost: its client left early, or a fault broke it after its hold. */
export function noteLostReply(
  recent: RecentCalls,
  exchange: Exchange,
  { steady: lostAt }: Instant,
): RecentCalls {
  const hash = hashCall(exchange, exchange.request.body ?? '');
  const isSameCall = (call: RecentCall) =>
    call.hash === hash && lostAt < (call.lostAt ?? Number.POSITIVE_INFINITY);
  return recent.some(isSameCall)
    ? recent.map((call) => (isSameCall(call) ? { ...call, sentAt: undefined, lostAt } : call))
    : recent;
}

/** A hash, because calls can be long. */
function hashCall(
  { method, target, authorization }: Pick<ServiceRequest, 'method' | 'target' | 'authorization'>,
  body: string | Uint8Array,
): string {
  return hashOf(`${method} ${target}\n${authorization}\n`, body);
}
