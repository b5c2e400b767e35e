import type { OperationId } from '../contract/operations.ts';
import { decodeContent, findHeader } from '../raw-http.ts';
import type { Fault } from '../scenario/fault-table.ts';
import type { RuleMatch } from '../scenario/rules.ts';
import type { Call } from '../service/input.ts';
import { bearerToken } from '../service/keyring.ts';
import type { ServiceState, UnknownRoute } from '../service/operation.ts';
import type { Basis, Reply } from '../service/reply.ts';
import { roundDuration } from '../words.ts';
import type { ExpectedReply, FindingText } from './report-shapes.ts';

/** A request, as far as it decides its reply and is recorded. */
export interface ServiceRequest {
  readonly method: string;
  readonly target: string;
  /** The `Authorization` header without the sandbox name in its token. */
  readonly authorization: string | undefined;
  /** Names and values in turn, as the client sent them. */
  readonly headers: readonly string[];
  /** Whether it has an `Origin`, as those of a page have. */
  readonly crossOrigin: boolean;
  readonly port: number | undefined;
  /** By `performance.now()`. */
  readonly receivedAt: number;
  readonly replays?: number | undefined;
  readonly call: Call | undefined;
  readonly route?: UnknownRoute | undefined;
  /** The reply, where something else than the mock's operations gave it. */
  readonly given?: GivenReply | undefined;
}

/** A reply that did not come from an operation: a refusal, or what a deployment answered. */
interface GivenReply {
  /** Undefined if the rule has one, or breaks the exchange. */
  readonly reply: Reply | undefined;
  readonly match?: RuleMatch | undefined;
}

/** Why a reply is no longer held back. */
export const HOLD_ENDS = ['released', 'expired', 'left', 'reset', 'deleted', 'stopped'] as const;

export type HoldEnd = (typeof HOLD_ENDS)[number];

export interface Hold {
  readonly name: string;
  /** When the request was answered, in milliseconds since 1970. */
  readonly since: number;
  ended?: HoldEnd;
  /** How long it was held, in milliseconds. */
  lasted?: number;
}

export interface Message {
  /** Names and values in turn. */
  readonly headers: readonly string[];
  /** Undefined if there was none, or if it was dropped. */
  readonly body: string | Buffer | undefined;
  readonly size: number;
}

export interface SentReply extends Message {
  readonly status: number;
  /** Nobody changes it: Node just takes no readonly array. */
  readonly headers: string[];
  readonly phrase?: string | undefined;
}

/**
 * A request, its reply and the reasons for it. Made once; the journal gives it its number, and it
 * learns when a held reply left.
 */
export interface Exchange {
  /** Numbers the exchanges of a sandbox from 1; dropped ones count. */
  number: number;
  /** Milliseconds from the request to its reply, delay and hold included. */
  duration: number;
  /** When the reply was decided, by the sandbox's clock, in milliseconds since 1970. */
  readonly at: number;
  readonly method: string;
  readonly target: string;
  readonly operation: OperationId | undefined;
  readonly replays: number | undefined;
  /** Whether it was refused before an operation could run. */
  readonly isRefused: boolean;
  /** Credentials in full: only `maskHeaders` masks them. */
  readonly authorization: string | undefined;
  readonly request: Message;
  /** The status that the client is sent; undefined if a fault leaves it none. */
  readonly status: number | undefined;
  /** What is sent, or what a fault spoils or hides; undefined if no operation ran. */
  readonly reply: SentReply | undefined;
  readonly basis: Basis;
  /** The reasons for the reply, nearest cause first. */
  readonly reasons: readonly string[];
  readonly fault: Fault | undefined;
  readonly delay: number;
  /** Set if a rule holds or held the reply back. */
  readonly hold: Hold | undefined;
  readonly findings: readonly FindingText[];
  /** What coverage counts of it, by key: the reply, then its cases. */
  readonly shows: readonly string[];
  /** What the mock would have answered in place of a deployment, where it can know. */
  readonly expected: ExpectedReply | undefined;
}

export interface DecidedRequest {
  readonly request: ServiceRequest;
  /** Before the call. */
  readonly serviceState: ServiceState;
  /** Undefined if no operation ran. */
  readonly reply: Reply | undefined;
  /** What the client is sent: the reply, unless a fault replaces it. */
  readonly shown: Reply | undefined;
  readonly match: RuleMatch | undefined;
}

export interface HeldExchange extends Exchange {
  readonly hold: Hold;
}

export function isHeld(exchange: Exchange): exchange is HeldExchange {
  return exchange.hold !== undefined;
}

export function isWaiting(exchange: Exchange): exchange is HeldExchange {
  return isHeld(exchange) && exchange.hold.ended === undefined;
}

/** Bytes of a body out of its content coding, of which a text is made. */
const MAX_DECODED_BYTES = 16 * 1024 * 1024;

const NONE: readonly never[] = [];

export function describeHold({ name, ended, lasted }: Hold) {
  return { name, ended, lasted: lasted && roundDuration(lasted) };
}

/** The finding about a reply that went out because nobody had released it. */
export function findHoldFindings({ hold }: Exchange): readonly FindingText[] {
  if (hold?.ended !== 'expired') return NONE;
  const seconds = Number(((hold.lasted ?? 0) / 1000).toPrecision(2));
  const message = `The hold "${hold.name}" was not released; its reply was sent after ${seconds} s.`;
  return [{ code: 'unreleased-hold', message }];
}

/** What the client should not have done, with what its hold has shown since. */
export function listFindings(exchange: Exchange): readonly FindingText[] {
  return [...exchange.findings, ...findHoldFindings(exchange)];
}

export function isDropped({ body, size }: Message): boolean {
  return body === undefined && size > 0;
}

/** The body of a message as text, out of its content coding; undefined if it has none. */
export function bodyText({ body, headers }: Message): string | undefined {
  if (body === undefined || typeof body === 'string') return body;
  return decodeContent(body, headers, MAX_DECODED_BYTES)?.toString();
}

/** W3C Trace Context. Ids are not zero, and only versions after 00 may have more fields. */
const TRACEPARENT =
  /^(?!ff|00.{54})[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?:-.*)?$/;

/** The trace that the request belongs to, if its `traceparent` names one. */
export function findTraceId({ request }: Exchange): string | undefined {
  return TRACEPARENT.exec(findHeader(request.headers, 'traceparent') ?? '')?.[1];
}

/** The API key's first characters; undefined if the request carried none. */
export function maskedKey({ authorization }: Exchange): string | undefined {
  const key = bearerToken(authorization);
  return key === undefined || key === '' ? undefined : maskSecret(key);
}

/** Headers that probably hold a secret, after a scheme if they have one. */
const CREDENTIALS =
  /auth(?!enticate)|cookie|api-?key|subscription-key|token|secret|password|session/i;

/** Headers, names and values in turn, with credentials masked. */
export function maskHeaders(headers: readonly string[]): readonly string[] {
  return headers.map((text, index, all) => {
    const name = index % 2 === 0 ? '' : (all[index - 1] ?? '');
    if (!CREDENTIALS.test(name)) return text;
    return text.replace(
      /^([\w-]+ +)?(.*)$/s,
      (_, scheme = '', secret) => scheme + maskSecret(secret),
    );
  });
}

const SHOWN_OF_SECRET = 4;

/** The first characters of a secret. One that is not longer would be shown in full. */
function maskSecret(secret: string): string {
  return `${secret.slice(0, secret.length > SHOWN_OF_SECRET ? SHOWN_OF_SECRET : 1)}…`;
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
  const { hold, expected, reasons, request, reply } = exchange;
  return {
    ...{ number, at, duration, method, target, operation, status, basis, delay },
    ...{ fault: fault?.kind, traceId: findTraceId(exchange), hold, expected, why: reasons },
    requestCut: isDropped(request),
    replyCut: reply !== undefined && isDropped(reply),
    /** The API key's first characters; undefined if the request carried none. */
    get key() {
      return maskedKey(exchange);
    },
    get findings() {
      return listFindings(exchange);
    },
    /** Names and values in turn; credentials are masked. */
    get requestHeaders() {
      return maskHeaders(request.headers);
    },
    get replyHeaders() {
      return maskHeaders(reply?.headers ?? []);
    },
    /** Undefined if the request had none. */
    get requestBody() {
      return bodyText(request);
    },
    get replyBody() {
      return reply && bodyText(reply);
    },
  };
}
