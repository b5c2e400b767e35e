import { toText } from '../bytes.ts';
import type { OperationId } from '../contract/operations.ts';
import { findHeader, isCoded, type Message, type RawHeaders, readHeaderText } from '../raw-http.ts';
import type { Fault } from '../scenario/fault-table.ts';
import type { RuleMatch } from '../scenario/rules.ts';
import type { Call } from '../service/input.ts';
import { bearerToken } from '../service/keyring.ts';
import type { ServiceState } from '../service/operation.ts';
import type { Basis, Reply } from '../service/reply.ts';
import type { UnknownRoute } from '../service/unknown-route.ts';
import { roundDuration } from '../words.ts';
import type { ExpectedReply, FindingText } from './report-shapes.ts';

/** A shared empty list, because most exchanges have some. */
export const NONE: readonly never[] = [];

export interface ServiceRequest {
  readonly method: string;
  readonly target: string;
  /** The `Authorization` header without the sandbox name in its token. */
  readonly authorization: string | undefined;
  /** Alternating names and values, as in all raw headers. */
  readonly headers: readonly string[];
  /** The origin of the page that sent the request; `*` if it is unreadable. */
  readonly origin: string | undefined;
  readonly port: number | undefined;
  /** When the request arrived, by `steadyNow`. */
  readonly receivedAt: number;
  readonly replays?: number | undefined;
  readonly call: Call | undefined;
  readonly route?: UnknownRoute | undefined;
  readonly supplied?: SuppliedReply | undefined;
}

/** A reply from outside of the core: a refusal by the server, or what a deployment answered. */
interface SuppliedReply {
  /** Undefined if the rule replaces the reply, or its fault breaks the exchange. */
  readonly reply: Reply | undefined;
  readonly match?: RuleMatch | undefined;
}

export const HOLD_ENDS = ['released', 'expired', 'left', 'reset', 'deleted', 'stopped'] as const;

export type HoldEnd = (typeof HOLD_ENDS)[number];

export interface Hold {
  readonly name: string;
  /** When the request was answered, by `steadyNow`. */
  readonly since: number;
  /** Whether the sandbox's clock was frozen, in which case the hold's duration is recorded as 0. */
  readonly isFrozen?: boolean;
  readonly ended?: HoldEnd;
  /** How long the hold lasted, in milliseconds. */
  readonly lasted?: number;
}

/** A request and its reply. Immutable: one whose hold ends is replaced by a new one. */
export interface Exchange {
  /** Counted from 1. Dropped exchanges count, too. */
  readonly number: number;
  /** In milliseconds, with the delay and the hold. */
  readonly duration: number;
  /** The time on the sandbox's clock, in milliseconds since 1970. */
  readonly at: number;
  /** True if the sandbox's clock differs from the system time. */
  readonly clockMoved: true | undefined;
  readonly method: string;
  readonly target: string;
  readonly operation: OperationId | undefined;
  readonly replays: number | undefined;
  readonly isRefused: boolean;
  /** The header with its full credentials. `maskHeaders` masks them where they are shown. */
  readonly authorization: string | undefined;
  readonly request: Message;
  /** Undefined if a fault keeps the client from getting a status. */
  readonly status: number | undefined;
  /** Undefined if no operation ran. Because of a fault, the client may get less than this. */
  readonly reply: Reply | undefined;
  readonly basis: Basis;
  /** Why the mock answered so, in sentences, the most direct reason first. */
  readonly reasons: readonly string[];
  readonly fault: Fault | undefined;
  readonly delay: number;
  readonly hold: Hold | undefined;
  readonly findings: readonly FindingText[];
  /** The coverage keys of the documented or assumed replies that this exchange shows. */
  readonly covers: readonly string[];
  readonly expected: ExpectedReply | undefined;
  readonly patched: readonly string[] | undefined;
}

/** An exchange before the sandbox takes it, which sets its number and adds the waiting time. */
export interface ExchangeUnderWay extends Exchange {
  number: number;
  duration: number;
}

export interface DecidedRequest {
  readonly request: ServiceRequest;
  /** The state that the operation runs on. */
  readonly serviceState: ServiceState;
  readonly reply: Reply | undefined;
  /** The reply that the client gets. It differs from `reply` if a fault replaces that. */
  readonly received: Reply | undefined;
  readonly match: RuleMatch | undefined;
  /** Whether the operation ran and succeeded, even if the client is told otherwise. */
  readonly isCarriedOut: boolean;
  /** Whether the client gets the reply unbroken. */
  readonly isDelivered: boolean;
}

/** An exchange whose reply is or was held. */
export interface ExchangeWithHold extends Exchange {
  readonly hold: Hold;
}

export function hasHold(exchange: Exchange): exchange is ExchangeWithHold {
  return exchange.hold !== undefined;
}

/** Whether the reply is held at this moment. */
export function isHeld(exchange: Exchange): exchange is ExchangeWithHold {
  return hasHold(exchange) && exchange.hold.ended === undefined;
}

export function describeHold({ name, ended, lasted }: Hold) {
  return { name, ended, lasted: lasted && roundDuration(lasted) };
}

export function findHoldFindings({ hold }: Exchange): readonly FindingText[] {
  if (hold?.ended !== 'expired') return [];
  const { name, lasted } = hold;
  const when = lasted ? `after ${Number((lasted / 1000).toPrecision(2))} s` : 'at its end';
  const message = `The hold "${name}" was not released; its reply was sent ${when}.`;
  return [{ code: 'unreleased-hold', message }];
}

export function listFindings(exchange: Exchange): readonly FindingText[] {
  return [...exchange.findings, ...findHoldFindings(exchange)];
}

export function isDropped({ body, size }: Message): boolean {
  return body === undefined && size > 0;
}

/** The body as text without content coding; undefined without a body or if decoding fails. */
export function bodyText({ body, decoded, headers }: Message): string | undefined {
  if (decoded !== undefined) return decoded;
  if (body === undefined || typeof body === 'string') return body;
  return isCoded(headers) ? undefined : toText(body);
}

/** W3C Trace Context: no id is all zeros, and only versions after 00 may have more fields. */
const TRACEPARENT =
  /^(?!ff|00.{54})[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?:-.*)?$/;

export function findTraceId({ request }: Exchange): string | undefined {
  return TRACEPARENT.exec(findHeader(request.headers, 'traceparent') ?? '')?.[1];
}

export function maskedKey({ authorization }: Exchange): string | undefined {
  const key = bearerToken(authorization);
  return key === undefined || key === '' ? undefined : maskSecret(key);
}

/** Names of credentials, but not `WWW-Authenticate`, `author` or a page token. */
const CREDENTIALS =
  /auth(?!enticate|or(?!i[sz]))|cookie|api[-_]?key|subscription-key|(?<!page[-_]?)token|secret|password|session/i;

/** Whether a header or a parameter of this name probably holds a secret. */
export function isCredential(name: string): boolean {
  return CREDENTIALS.test(name);
}

/** A target with its secrets masked, for the log and the journal. */
export function maskTarget(target: string): string {
  return target.replace(/([?&])([^=&#]*)=([^&#]*)/g, (pair, start, name, secret) =>
    isCredential(name) ? `${start}${name}=${encodeURIComponent(maskSecret(secret))}` : pair,
  );
}

export function maskHeaders(headers: RawHeaders): readonly string[] {
  return headers.map((raw, index, all) => {
    const text = readHeaderText(raw);
    const name = index % 2 === 0 ? '' : (all[index - 1] ?? '');
    if (!isCredential(name)) return text;
    return text.replace(
      /^([\w-]+ +)?(.*)$/s,
      (_, scheme = '', secret) => scheme + maskSecret(secret),
    );
  });
}

const SHOWN_OF_SECRET = 4;

/** Shows the first characters of a secret, only one of a short secret. */
function maskSecret(secret: string): string {
  return `${secret.slice(0, secret.length > SHOWN_OF_SECRET ? SHOWN_OF_SECRET : 1)}…`;
}
