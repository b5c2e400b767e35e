import type { OperationId } from '../contract/operations.ts';
import type { Hold } from '../scenario/hold.ts';
import type { Call } from '../service/input.ts';
import { bearerToken } from '../service/keyring.ts';
import type { Basis } from '../service/reply.ts';
import { cut } from '../words.ts';
import type { FindingText } from './finding-codes.ts';
import type { ExpectedReply } from './report-shapes.ts';

/** Kept characters of a request's target, of its key and of a reason. */
export const KEPT_TEXT = 2048;

const SHOWN_OF_KEY = 4;

export interface RequestRecord {
  readonly method: string;
  readonly target: string;
  readonly authorization: string | undefined;
  /** Names and values in turn, as the client sent them. */
  readonly headers: readonly string[];
  /** The header of this name, as the client sent it. */
  readonly traceparent?: string | readonly string[] | undefined;
  /** Whether it has an `Origin`, as those of a page have. */
  readonly crossOrigin: boolean;
  /** Undefined if no operation was called, for example because no such path exists. */
  readonly call: Call | undefined;
  readonly connection: { readonly remotePort?: number | undefined };
  /** When the request was received, by `performance.now()`. */
  readonly receivedAt: number;
}

/** A call that may be a retry or be retried, and what its reply means for retries. */
export interface Attempt {
  /** Equal for equal calls. */
  readonly callHash: string;
  /** The client's port, which tells its connection from others. */
  readonly port: number | undefined;
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

/**
 * A request, its reply and the reason for it: a plain value, which JSON can hold. It does not change,
 * except that its acknowledgement sets its number, its duration, when its reply left, and findings about
 * retries.
 */
export interface Exchange {
  /** Numbers the exchanges of a sandbox from 1; dropped ones count. */
  number: number;
  /** When the reply was decided, by the sandbox's clock, in milliseconds since 1970. */
  readonly at: number;
  /** Milliseconds from the request to its reply, delay included. */
  duration: number;
  readonly method: string;
  readonly target: string;
  readonly operation: OperationId | undefined;
  /** The trace that the request belongs to, if its `traceparent` names one. */
  readonly traceId: string | undefined;
  /** Undefined if the client was sent none. */
  readonly status: number | undefined;
  readonly basis: Basis;
  readonly fault: string | undefined;
  readonly delay: number;
  /** Set if a rule holds or held the reply back. */
  readonly hold: Hold | undefined;
  /** What the client should not have done. */
  findings: readonly FindingText[];
  /** What coverage counts of it, by key: the reply, then its cases. */
  readonly shows: readonly string[];
  /** What tells whether a later call is a retry of this one; undefined if no call can be. */
  readonly attempt: Attempt | undefined;
  /** Credentials in full: only `shownHeaders` masks them. */
  readonly authorization: string | undefined;
  readonly requestHeaders: readonly string[];
  /** The bytes as Latin-1 characters; undefined if the request had none. */
  readonly requestBody: string | undefined;
  /** Whether the request's body was longer than what is kept. */
  readonly requestCut: boolean;
  /** Names and values in turn, without those that follow from other members. */
  readonly replyHeaders: readonly string[];
  /** Undefined if there was none, or if it was too long to keep. */
  readonly replyBody: string | undefined;
  /** Whether the reply had a body that is not kept. */
  readonly replyCut: boolean;
  /** What the mock would have answered in place of a deployment, where it can know. */
  readonly expected: ExpectedReply | undefined;
  /** The rule or the preference that decided, in words. */
  readonly decision: string | undefined;
  /** Why the call failed, as the reply says. */
  readonly reason: string | undefined;
}

/** The reasons for a reply, nearest cause first. */
export function reasonsFor({ decision, basis, reason }: Exchange): readonly string[] {
  const reasons: string[] = [];
  if (decision !== undefined) reasons.push(decision);
  if (basis.kind === 'assumed') reasons.push(...basis.by.map((by) => `assumption ${by}`));
  if (reason !== undefined) reasons.push(reason);
  if (reasons.length > 0) return reasons;
  return [basis.kind === 'documented' ? 'as the document prescribes' : 'as HTTP requires'];
}

/** The API key's first characters; undefined if the request carried none. */
export function shownKey({ authorization }: Exchange): string | undefined {
  const key = bearerToken(authorization);
  return key === undefined || key === '' ? undefined : maskSecret(key);
}

export function hasKey({ authorization }: Exchange, key: string): boolean {
  return bearerToken(authorization) === bearerToken(cut(`Bearer ${key}`, KEPT_TEXT));
}

/** Whether the target, a reason or a body contains a text, in any case. */
export function contains(exchange: Exchange, text: string): boolean {
  const wanted = text.toLowerCase();
  const { target, replyBody } = exchange;
  const parts = [target, ...reasonsFor(exchange), requestText(exchange), replyBody];
  return parts.some((part) => part?.toLowerCase().includes(wanted));
}

/** The kept part of the request's body; undefined if the request had none. */
export function requestText({ requestBody }: Exchange): string | undefined {
  return requestBody && Buffer.from(requestBody, 'latin1').toString();
}

/** Headers that hold a secret, after a scheme if they have one. */
const CREDENTIALS = /^(?:authorization|proxy-authorization|cookie|set-cookie|mock-control-token)$/i;

/** Headers, names and values in turn, with credentials masked. */
export function shownHeaders(headers: readonly string[]): readonly string[] {
  return headers.map((text, index, all) => {
    const name = index % 2 === 0 ? '' : (all[index - 1] ?? '');
    if (!CREDENTIALS.test(name)) return text;
    return text.replace(
      /^([\w-]+ +)?(.*)$/s,
      (_, scheme = '', secret) => scheme + maskSecret(secret),
    );
  });
}

/** The first characters of a secret. One that is not longer would be shown in full. */
function maskSecret(secret: string): string {
  return `${secret.slice(0, secret.length > SHOWN_OF_KEY ? SHOWN_OF_KEY : 1)}…`;
}

/** An exchange as observers see it: without secrets. It can be kept. */
export type ObservedExchange = Readonly<ReturnType<typeof observedExchange>>;

/**
 * Called after each exchange in any sandbox, with the name of the sandbox; and again when a reply that
 * was held back is let go.
 */
export type Observer = (sandbox: string, exchange: ObservedExchange) => void;

/** An exchange for observers. Reads what few of them read only when they do. */
export function observedExchange(exchange: Readonly<Exchange>) {
  const { number, at, duration, method, target, operation, status, basis, fault, delay } = exchange;
  const { traceId, hold, requestCut, replyBody, replyCut, expected } = exchange;
  return {
    ...{ number, at, duration, method, target, operation, status, basis, fault, delay },
    ...{ traceId, hold, requestCut, replyBody, replyCut, expected },
    /** The API key's first characters; undefined if the request carried none. */
    get key() {
      return shownKey(exchange);
    },
    /** The reasons for the reply, nearest cause first. */
    get why() {
      return reasonsFor(exchange);
    },
    /** Names and values in turn; credentials are masked. */
    get requestHeaders() {
      return shownHeaders(exchange.requestHeaders);
    },
    get replyHeaders() {
      return shownHeaders(exchange.replyHeaders);
    },
    /** The first 4 KiB; undefined if the request had none. */
    get requestBody() {
      return requestText(exchange);
    },
  };
}
