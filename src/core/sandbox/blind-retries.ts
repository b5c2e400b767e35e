import { type OperationId, operationShape } from '../contract/operations.ts';
import { isDelivered } from '../scenario/fault-table.ts';
import type { Instant } from '../service/clock.ts';
import type { DecidedRequest, Exchange } from './exchange.ts';
import { hashCall, RETRY_WITHIN_MS, TIME_ORIGIN } from './findings.ts';
import type { FindingText } from './report-shapes.ts';

/** A call that was carried out, and whose reply the client has not received. */
interface UnansweredCall {
  readonly hash: string;
  readonly operation: OperationId;
  /** In milliseconds since 1970; undefined while the reply waits to be sent. */
  readonly lostAt: number | undefined;
}

export type UnansweredCalls = readonly UnansweredCall[];

const MAX_UNANSWERED = 16;

const NONE: readonly never[] = [];

export function judgeBlindRetry(
  earlier: UnansweredCalls,
  { request, match, isCarriedOut }: DecidedRequest,
  now: Instant,
): { readonly findings: readonly FindingText[]; readonly unanswered: UnansweredCalls } {
  const { call } = request;
  const { fault, delay = 0, hold } = match ?? {};
  const isLost = !isDelivered(fault);
  const isUnanswered = isCarriedOut && (isLost || delay > 0 || hold !== undefined);
  const same = { findings: NONE, unanswered: earlier };
  if (call === undefined || (earlier.length === 0 && !isUnanswered)) return same;
  const { operation } = call;
  const { method, tag } = operationShape(operation);
  // It sets the same quantity again.
  if (method === 'PATCH') return same;
  if (method === 'GET') {
    // Who looks before sending again does not do so blindly.
    const others = earlier.filter((other) => operationShape(other.operation).tag !== tag);
    const isLooked = isCarriedOut && !isUnanswered && others.length < earlier.length;
    return isLooked ? { findings: NONE, unanswered: others } : same;
  }
  const hash = hashCall(request, call.body.kind === 'bytes' ? call.body.bytes : '');
  const first = earlier.find((other) => other.hash === hash);
  const receivedAt = TIME_ORIGIN + request.receivedAt;
  // One that came before the loss was sent beside the first.
  const lost = first?.lostAt ?? Number.NaN;
  const isBlind = receivedAt > lost && receivedAt < lost + RETRY_WITHIN_MS;
  const message = `The same ${method} was sent again although the first was carried out: only its reply was lost.`;
  const others = earlier.filter((other) => other !== first);
  const lostAt = isLost ? TIME_ORIGIN + now.steady + delay : undefined;
  return {
    findings: isBlind ? [{ code: 'blind-retry', message }] : NONE,
    unanswered: isUnanswered
      ? [...others, { hash, operation, lostAt }].slice(-MAX_UNANSWERED)
      : others,
  };
}

/** The client has left before its reply was sent. */
export function withLostReply(
  calls: UnansweredCalls,
  exchange: Exchange,
  { steady }: Instant,
): UnansweredCalls {
  const hash = hashCall(exchange, exchange.request.body ?? '');
  const lostAt = TIME_ORIGIN + steady;
  const isMeant = (call: UnansweredCall) =>
    call.hash === hash && (call.lostAt ?? Number.POSITIVE_INFINITY) > lostAt;
  if (!calls.some(isMeant)) return calls;
  return calls.map((call) => (isMeant(call) ? { ...call, lostAt } : call));
}
