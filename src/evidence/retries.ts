import type { Instant } from '../service/clock.ts';
import type { Call } from '../service/input.ts';
import type { Reply } from '../service/reply.ts';
import type { Attempt, RequestRecord } from './exchange.ts';
import type { FindingText } from './finding-codes.ts';

/** How long a refusal is remembered, in milliseconds. */
const RETRY_WITHIN = 60_000;

/** Calls whose `Retry-After` is remembered. */
const MOST_PAUSES = 16;

/** Client errors that can be temporary. */
const TEMPORARY: ReadonlySet<number> = new Set([408, 425, 429]);

/** What retries are told by: the latest call, and the latest pauses that replies asked for. */
export interface Retries {
  readonly latest: Attempt | undefined;
  readonly pauses: readonly Attempt[];
}

export const NO_RETRIES: Retries = { latest: undefined, pauses: [] };

/** What is remembered after an exchange. */
export function remembered(before: Retries, attempt: Attempt | undefined): Retries {
  if (attempt === undefined) return withoutLatest(before);
  const others = before.pauses.filter(({ callHash }) => callHash !== attempt.callHash);
  const pauses = attempt.retryAfter === undefined ? others : [...others, attempt];
  const latest = attempt.isFinal ? attempt : undefined;
  return { latest, pauses: pauses.slice(-MOST_PAUSES) };
}

/** What is remembered after a change of the sandbox, after which the same call can get another reply. */
export function withoutLatest(retries: Retries): Retries {
  return retries.latest === undefined ? retries : { ...retries, latest: undefined };
}

interface AttemptContext {
  readonly now: Instant;
  /** The delay of the reply, in milliseconds. */
  readonly delay: number;
  /** The time of the sandbox's clock. */
  readonly at: number;
}

/** A call that may be a retry, or may be retried, as an attempt. */
export function attemptOf(
  request: RequestRecord,
  call: Call,
  reply: Reply | undefined,
  { now, delay, at }: AttemptContext,
): Attempt {
  return {
    callHash: hashOf(request, call),
    port: request.connection.remotePort,
    isFinal: reply !== undefined && isFinal(reply),
    status: reply?.status,
    retryAfter: retryAfter(reply, at),
    at,
    receivedAt: performance.timeOrigin + request.receivedAt,
    leftAt: performance.timeOrigin + now.steady + delay,
  };
}

/** Milliseconds after a reply left in which a call on another connection may be a parallel one. */
const PARALLEL = 50;

/** Whether a client made a call after it could read the reply to an equal one. */
function isRetry({ callHash, port, receivedAt }: Attempt, earlier: Attempt): boolean {
  const readAt = earlier.leftAt + (port === earlier.port ? 0 : PARALLEL);
  return callHash === earlier.callHash && receivedAt > readAt;
}

/** What a client did with a call that it should not have repeated. */
export function findingsOfRetry(
  attempt: Attempt,
  { latest, pauses }: Retries,
): readonly FindingText[] {
  const { status, at, receivedAt } = attempt;
  const found: FindingText[] = [];
  const isRepeated = latest !== undefined && latest.status === status && isRetry(attempt, latest);
  if (isRepeated && receivedAt < latest.leftAt + RETRY_WITHIN) {
    const message = `The same call was repeated after a ${status} that cannot change.`;
    found.push({ code: 'pointless-retry', message });
  }
  const pause = pauses.find((earlier) => isRetry(attempt, earlier));
  const { retryAfter = 0, at: askedAt = 0, leftAt = 0 } = pause ?? {};
  // Waiting by either clock is enough.
  if (at < askedAt + retryAfter * 1000 && receivedAt < leftAt + retryAfter * 1000) {
    const message = `The call was repeated before Retry-After (${retryAfter} s) had passed.`;
    found.push({ code: 'early-retry', message });
  }
  return found;
}

/** Whether asking again would get the same reply. */
export function isFinal({ status, basis }: Reply): boolean {
  return (
    status >= 400 &&
    status < 500 &&
    !TEMPORARY.has(status) &&
    (basis.kind === 'documented' || basis.kind === 'assumed')
  );
}

/** The seconds that a reply asks to wait for. */
function retryAfter(reply: Reply | undefined, now: number): number | undefined {
  if (reply === undefined || reply.status < 300) return undefined;
  const { headers } = reply;
  for (let at = 0; at < headers.length; at += 2) {
    if (headers[at]?.toLowerCase() !== 'retry-after') continue;
    const value = headers[at + 1] ?? '';
    const seconds = /^\d+$/.test(value) ? Number(value) : (Date.parse(value) - now) / 1000;
    return seconds > 0 ? seconds : undefined;
  }
  return undefined;
}

/** Identifies a call by a short text, however long the call is. */
function hashOf({ method, target }: RequestRecord, { authorization = '', body }: Call): string {
  // Loaded at the first refusal, to keep the start fast.
  const { createHash } = process.getBuiltinModule('node:crypto');
  const hash = createHash('sha1');
  hash.update(`${method} ${target}\n${authorization}\n${body.kind}\n`);
  if (body.kind === 'bytes') hash.update(body.bytes);
  return hash.digest('base64');
}
