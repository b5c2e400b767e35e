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

/** The empty list that most exchanges share. */
export const NONE: readonly never[] = [];

export interface ServiceRequest {
  readonly method: string;
  readonly target: string;
  /** The `Authorization` header without the sandbox name in its token. */
  readonly authorization: string | undefined;
  /** Names and values in turn, as everywhere. */
  readonly headers: readonly string[];
  /** The origin of the page that sent it; `*` if it could not be read. */
  readonly origin: string | undefined;
  readonly port: number | undefined;
  /** By `steadyNow`. */
  readonly receivedAt: number;
  readonly replays?: number | undefined;
  readonly call: Call | undefined;
  readonly route?: UnknownRoute | undefined;
  readonly supplied?: SuppliedReply | undefined;
}

/** A refusal, or what a deployment answered. */
interface SuppliedReply {
  /** Undefined if the rule has one, or breaks the exchange. */
  readonly reply: Reply | undefined;
  readonly match?: RuleMatch | undefined;
}

export const HOLD_ENDS = ['released', 'expired', 'left', 'reset', 'deleted', 'stopped'] as const;

export type HoldEnd = (typeof HOLD_ENDS)[number];

export interface Hold {
  readonly name: string;
  /** When the request was answered, by `steadyNow`. */
  readonly since: number;
  /** Whether the clock of the sandbox stood still then, so that the hold lasts 0. */
  readonly isFrozen?: boolean;
  readonly ended?: HoldEnd;
  /** In milliseconds. */
  readonly lasted?: number;
}

/** One that is kept does not change: the end of its hold makes another of the same number. */
export interface Exchange {
  /** Counts from 1, dropped exchanges too. */
  readonly number: number;
  /** In milliseconds, delay and hold included. */
  readonly duration: number;
  /** By the sandbox's clock, in milliseconds since 1970. */
  readonly at: number;
  /** Whether that is not the system time. */
  readonly clockMoved: true | undefined;
  readonly method: string;
  readonly target: string;
  readonly operation: OperationId | undefined;
  readonly replays: number | undefined;
  readonly isRefused: boolean;
  /** Credentials in full: only `maskHeaders` masks them. */
  readonly authorization: string | undefined;
  readonly request: Message;
  /** Undefined if a fault leaves the client none. */
  readonly status: number | undefined;
  /** Undefined if no operation ran. A fault may spoil or hide it. */
  readonly reply: Reply | undefined;
  readonly basis: Basis;
  /** Why it was answered so, in sentences, the nearest cause first. */
  readonly reasons: readonly string[];
  readonly fault: Fault | undefined;
  readonly delay: number;
  readonly hold: Hold | undefined;
  readonly findings: readonly FindingText[];
  /** The documented or assumed replies that it covers, as keys of coverage. */
  readonly covers: readonly string[];
  readonly expected: ExpectedReply | undefined;
  readonly patched: readonly string[] | undefined;
}

/** Until it is kept: what keeps it numbers it, and adds how long that took. */
export interface ExchangeUnderWay extends Exchange {
  number: number;
  duration: number;
}

export interface DecidedRequest {
  readonly request: ServiceRequest;
  /** The state that the call found. */
  readonly serviceState: ServiceState;
  readonly reply: Reply | undefined;
  /** What the client gets: `reply`, unless a fault replaces it. */
  readonly received: Reply | undefined;
  readonly match: RuleMatch | undefined;
  /** Whether the operation has run and succeeded, whatever the client is told. */
  readonly isCarriedOut: boolean;
  /** Whether the client gets `reply` as it is meant. */
  readonly isDelivered: boolean;
}

/** A rule holds its reply back, or has done so. */
export interface ExchangeWithHold extends Exchange {
  readonly hold: Hold;
}

export function hasHold(exchange: Exchange): exchange is ExchangeWithHold {
  return exchange.hold !== undefined;
}

/** Whether its reply is held back now. */
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

/** Without its content coding. Undefined if there is none, or nobody could decode it. */
export function bodyText({ body, decoded, headers }: Message): string | undefined {
  if (decoded !== undefined) return decoded;
  if (body === undefined || typeof body === 'string') return body;
  return isCoded(headers) ? undefined : toText(body);
}

/** W3C Trace Context. Ids are not zero, and only versions after 00 may have more fields. */
const TRACEPARENT =
  /^(?!ff|00.{54})[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?:-.*)?$/;

export function findTraceId({ request }: Exchange): string | undefined {
  return TRACEPARENT.exec(findHeader(request.headers, 'traceparent') ?? '')?.[1];
}

export function maskedKey({ authorization }: Exchange): string | undefined {
  const key = bearerToken(authorization);
  return key === undefined || key === '' ? undefined : maskSecret(key);
}

/** Neither `WWW-Authenticate` nor an author or the token of a page. */
const CREDENTIALS =
  /auth(?!enticate|or(?!i[sz]))|cookie|api[-_]?key|subscription-key|(?<!page[-_]?)token|secret|password|session/i;

/** Whether a header or a parameter probably holds a secret, after a scheme if it has one. */
export function isCredential(name: string): boolean {
  return CREDENTIALS.test(name);
}

/** A target with its secrets masked, for those who may not see them. */
export function maskTarget(target: string): string {
  return target.replace(/([?&])([^=&#]*)=([^&#]*)/g, (pair, start, name, secret) =>
    isCredential(name) ? `${start}${name}=${encodeURIComponent(maskSecret(secret))}` : pair,
  );
}

/** Headers as `Name: value`, credentials masked. */
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

/** A short secret shows only its first character. */
function maskSecret(secret: string): string {
  return `${secret.slice(0, secret.length > SHOWN_OF_SECRET ? SHOWN_OF_SECRET : 1)}…`;
}
