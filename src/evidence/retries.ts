import { headerOf } from '../raw-headers.ts';
import type { Instant } from '../service/clock.ts';
import type { Call } from '../service/input.ts';
import type { Reply } from '../service/reply.ts';
import type { Attempt, RequestRecord } from './exchange.ts';
import type { FindingText } from './finding-codes.ts';

/** How long a refusal is remembered, in milliseconds. */
const RETRY_WITHIN = 60_000;

/** Calls that are remembered. */
const MOST_CALLS = 16;

/** Client errors that can be temporary. */
const TEMPORARY: ReadonlySet<number> = new Set([408, 425, 429]);

/** The calls that should not be repeated: the latest if it cannot succeed, and those told to wait. */
export type Retries = readonly Attempt[];

/** The retries to look for after an exchange; or after another change, which can let any call succeed. */
export function retriesAfter(before: Retries, attempt?: Attempt): Retries {
  const waiting = before.filter(
    ({ callHash, retryAfter }) => retryAfter !== undefined && callHash !== attempt?.callHash,
  );
  const isKept = attempt !== undefined && (attempt.isFinal || attempt.retryAfter !== undefined);
  return isKept ? [...waiting, attempt].slice(-MOST_CALLS) : waiting;
}

interface AttemptContext {
  readonly now: Instant;
  readonly delay: number;
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
export function findingsOfRetry(attempt: Attempt, retries: Retries): readonly FindingText[] {
  const { status, at, receivedAt } = attempt;
  const earlier = retries.find((it) => isRetry(attempt, it));
  if (earlier === undefined) return [];
  const findings: FindingText[] = [];
  const isSoon = receivedAt < earlier.leftAt + RETRY_WITHIN;
  if (earlier.isFinal && earlier.status === status && isSoon) {
    const message = `The same call was repeated after a ${status} that cannot change.`;
    findings.push({ code: 'pointless-retry', message });
  }
  const { retryAfter = 0 } = earlier;
  // Waiting by either clock is enough.
  if (at < earlier.at + retryAfter * 1000 && receivedAt < earlier.leftAt + retryAfter * 1000) {
    const message = `The call was repeated before Retry-After (${retryAfter} s) had passed.`;
    findings.push({ code: 'early-retry', message });
  }
  return findings;
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
  const value = headerOf(reply.headers, 'retry-after') ?? '';
  const seconds = /^\d+$/.test(value) ? Number(value) : (Date.parse(value) - now) / 1000;
  return seconds > 0 ? seconds : undefined;
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
