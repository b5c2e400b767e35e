import type { Instant } from '../service/clock.ts';
import type { Call } from '../service/input.ts';
import type { Reply } from '../service/reply.ts';
import type { RequestRecord } from './request-record.ts';

/** How long a refusal is remembered, in milliseconds. */
const RETRY_WITHIN = 60_000;

/** Calls whose `Retry-After` is remembered. */
const MOST_PAUSES = 16;

/** Client errors that can be temporary. */
const TEMPORARY: ReadonlySet<number> = new Set([408, 425, 429]);

/** Tells a connection from others, as far as that is known. */
interface ConnectionName {
  /** When its server began, in milliseconds since 1970, with fractions. */
  readonly server: number;
  /** The port of the client. */
  readonly port: number | undefined;
}

/** A call that may be a retry, and what its reply says to the same call after it. */
export interface Attempt {
  /** Equal for equal calls. */
  readonly callHash: string;
  /** The connection that it came on. */
  readonly connection: ConnectionName;
  /** Whether asking again gets the same reply. */
  readonly isFinal: boolean;
  /** The status of the reply; undefined if the client was sent none. */
  readonly status: number | undefined;
  /** The seconds that the reply asks to wait for. */
  readonly retryAfter: number | undefined;
  /** When the reply was decided, by the sandbox's clock. */
  readonly at: number;
  /** When the call was received and its reply left, in milliseconds since 1970, with fractions. */
  readonly receivedAt: number;
  /** Other servers know only when it was decided. */
  leftAt: number;
}

/** What a client did wrong with a call that it repeated. */
export interface Retry {
  /** Whether the same call had got the same reply before, and nothing had changed. */
  readonly isPointless: boolean;
  /** The seconds that the client was asked to wait for and did not. */
  readonly ignoredPause: number | undefined;
}

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
    connection: { server: performance.timeOrigin, port: request.connection.remotePort },
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
function isRetry({ callHash, connection, receivedAt }: Attempt, earlier: Attempt): boolean {
  const { server, port } = earlier.connection;
  const isSame = server === connection.server && (port === undefined || port === connection.port);
  const readAt = earlier.leftAt + (isSame ? 0 : PARALLEL);
  return callHash === earlier.callHash && receivedAt > readAt;
}

/** What was wrong with an attempt. */
export function retryOf(attempt: Attempt, { latest, pauses }: Retries): Retry {
  const { status, at, receivedAt } = attempt;
  const pause = pauses.find((earlier) => isRetry(attempt, earlier));
  return {
    isPointless:
      latest !== undefined &&
      latest.status === status &&
      isRetry(attempt, latest) &&
      receivedAt < latest.leftAt + RETRY_WITHIN,
    ignoredPause: pause && ignoredPause(pause, at, receivedAt),
  };
}

/** Waiting by either clock is enough. */
function ignoredPause(pause: Attempt, at: number, receivedAt: number): number | undefined {
  const { retryAfter = 0, at: askedAt, leftAt } = pause;
  const hasWaited = at >= askedAt + retryAfter * 1000 || receivedAt >= leftAt + retryAfter * 1000;
  return hasWaited ? undefined : retryAfter;
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
