import { hashOf } from '../bytes.ts';
import { type OperationId, operationShape } from '../contract/operations.ts';
import { readRetryAfter } from '../raw-http.ts';
import type { Instant } from '../service/clock.ts';
import { type DecidedRequest, type Exchange, NONE, type ServiceRequest } from './exchange.ts';
import { isFinal } from './findings.ts';
import type { FindingCode, FindingText } from './report-shapes.ts';

const RETRY_WITHIN_MS = 60_000;

/** A call on another connection within this time after a reply may be parallel. */
const PARALLEL_MS = 50;

/** A timer of Node counts from the start of a turn of its loop, so on a busy machine it fires early. */
const TIMER_SLACK_MS = 50;

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
  const isSameCall = (call: RecentCall) =>
    call.hash === hash && lostAt < (call.lostAt ?? Number.POSITIVE_INFINITY);
  return recent.some(isSameCall)
    ? recent.map((call) => (isSameCall(call) ? { ...call, sentAt: undefined, lostAt } : call))
    : recent;
}

/** Short, however long the call is. */
function hashCall(
  { method, target, authorization }: Pick<ServiceRequest, 'method' | 'target' | 'authorization'>,
  body: string | Uint8Array,
): string {
  return hashOf(`${method} ${target}\n${authorization}\n`, body);
}
