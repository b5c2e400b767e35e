import { createHash } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import { findHeader } from '../raw-headers.ts';
import type { Call } from '../service/input.ts';
import type { Reply } from '../service/reply.ts';
import type { ServiceRequest } from './exchange.ts';
import type { FindingText } from './finding-codes.ts';

/** How long a refusal is remembered. */
const RETRY_WITHIN_MS = 60_000;

const MAX_RETRIES = 16;

/** Milliseconds after a reply left in which a call on another connection may be a parallel one. */
const PARALLEL_MS = 50;

/** Client errors that can be temporary. */
const TEMPORARY: ReadonlySet<number> = new Set([408, 425, 429]);

/** A call that should not be repeated, or not yet. */
interface Attempt {
  /** Equal for equal calls. */
  readonly hash: string;
  /** The client's port, which tells its connection from others. */
  readonly port: number | undefined;
  /** Whether asking again gets the same reply. */
  readonly isFinal: boolean;
  readonly status: number | undefined;
  /** The seconds that the reply asks to wait for. */
  readonly retryAfter: number | undefined;
  /** When the reply was decided, by the sandbox's clock. */
  readonly at: number;
  /** When the reply left, in milliseconds since 1970. */
  readonly leftAt: number;
}

/** The calls that should not be repeated: the latest if it cannot succeed, and those told to wait. */
export type Retries = readonly Attempt[];

export const NO_RETRIES: Retries = [];

const NONE: readonly never[] = [];

/** What a retry is judged by. */
interface RetryContext {
  readonly request: ServiceRequest;
  readonly call: Call;
  /** What the client was sent; undefined if nothing. */
  readonly reply: Reply | undefined;
  /** By the sandbox's clock. */
  readonly at: number;
  /** When the reply leaves, in milliseconds since 1970. */
  readonly leavesAt: number;
}

/** Judges a call as a retry of earlier ones. Returns the calls to remember after it. */
export function judgeRetry(
  earlier: Retries,
  { request, call, reply, at, leavesAt }: RetryContext,
): { readonly findings: readonly FindingText[]; readonly retries: Retries } {
  if (earlier.length === 0 && (reply === undefined || reply.status < 400)) {
    return { findings: NONE, retries: earlier };
  }
  const retryAfter = readRetryAfter(reply, at);
  const hash = hashCall(request, call);
  const attempt: Attempt = {
    hash,
    port: request.port,
    isFinal: reply !== undefined && isFinal(reply),
    status: reply?.status,
    retryAfter,
    at,
    leftAt: leavesAt,
  };
  const waiting = waitingRetries(earlier).filter((other) => other.hash !== hash);
  const isKept = attempt.isFinal || retryAfter !== undefined;
  const retries = isKept ? [...waiting, attempt].slice(-MAX_RETRIES) : waiting;
  return {
    findings: findRetries(attempt, earlier, performance.timeOrigin + request.receivedAt),
    retries,
  };
}

/** Those left after a change of the sandbox: it can let any call succeed that was refused for good. */
export function waitingRetries(retries: Retries): Retries {
  return retries.some(({ retryAfter }) => retryAfter === undefined)
    ? retries.filter(({ retryAfter }) => retryAfter !== undefined)
    : retries;
}

function findRetries(
  { hash, port, status, at }: Attempt,
  earlier: Retries,
  receivedAt: number,
): readonly FindingText[] {
  // The client could read the first reply before it sent this call.
  const first = earlier.find(
    (other) =>
      other.hash === hash && receivedAt > other.leftAt + (port === other.port ? 0 : PARALLEL_MS),
  );
  if (first === undefined) return [];
  const findings: FindingText[] = [];
  const isSoon = receivedAt < first.leftAt + RETRY_WITHIN_MS;
  if (first.isFinal && first.status === status && isSoon) {
    const message = `The same call was repeated after a ${status} that cannot change.`;
    findings.push({ code: 'pointless-retry', message });
  }
  const { retryAfter = 0 } = first;
  // Waiting by either clock is enough.
  if (at < first.at + retryAfter * 1000 && receivedAt < first.leftAt + retryAfter * 1000) {
    const message = `The call was repeated before Retry-After (${retryAfter} s) had passed.`;
    findings.push({ code: 'early-retry', message });
  }
  return findings;
}

/** Whether asking again would get the same reply. */
export function isFinal({ status, basis }: Pick<Reply, 'status' | 'basis'>): boolean {
  return (
    status >= 400 &&
    status < 500 &&
    !TEMPORARY.has(status) &&
    (basis.kind === 'documented' || basis.kind === 'assumed')
  );
}

/** The seconds that a reply asks to wait for. */
function readRetryAfter(reply: Reply | undefined, now: number): number | undefined {
  if (reply === undefined || reply.status < 300) return undefined;
  const value = findHeader(reply.headers, 'retry-after') ?? '';
  const seconds = /^\d+$/.test(value) ? Number(value) : (Date.parse(value) - now) / 1000;
  return seconds > 0 ? seconds : undefined;
}

/** Identifies a call by a short text, however long the call is. */
function hashCall({ method, target }: ServiceRequest, { authorization = '', body }: Call): string {
  const hash = createHash('sha1');
  hash.update(`${method} ${target}\n${authorization}\n${body.kind}\n`);
  if (body.kind === 'bytes') hash.update(body.bytes);
  return hash.digest('base64');
}
