import { isAscii, toText } from '../bytes.ts';
import type { Choices } from '../contract/assumption-table.ts';
import { findHeader, mayHaveContent } from '../raw-http.ts';
import { effectOf } from '../scenario/fault-table.ts';
import type { RuleMatch } from '../scenario/rules.ts';
import { type Instant, isMoved, readClock } from '../service/clock.ts';
import {
  type Basis,
  DOCUMENTED,
  DOCUMENTED_REASON,
  findOffContract,
  groundsOf,
  type Reply,
} from '../service/reply.ts';
import { listCovered } from './coverage.ts';
import {
  type DecidedRequest,
  type ExchangeUnderWay,
  NONE,
  type ServiceRequest,
} from './exchange.ts';
import type { FindingText } from './report-shapes.ts';
import type { Settings, State } from './state.ts';

export function createExchange(
  decided: DecidedRequest,
  findings: readonly FindingText[],
  now: Instant,
  { settings, clock }: State,
): ExchangeUnderWay {
  const { request, serviceState, match } = decided;
  const { call, method, target, authorization, headers } = request;
  const { delay = 0, fault, hold } = match ?? {};
  const isProxy = effectOf(fault).sender === 'proxy';
  const reply = method === 'HEAD' ? assumeHead(decided.reply) : decided.reply;
  const basis = reply?.basis ?? (match ? { kind: 'forced', by: match.by } : DOCUMENTED);
  // Under a frozen clock every duration is 0, so that repeated runs record the same.
  const isFrozen = clock.frozenAt !== undefined;
  const elapsed = isFrozen ? 0 : now.steady - request.receivedAt;
  const bytes = call?.body.kind === 'bytes' ? call.body.bytes : undefined;
  return {
    number: 0,
    duration: elapsed + delay,
    at: serviceState.now,
    clockMoved: isMoved(clock),
    method,
    target,
    operation: call?.operation,
    replays: request.replays,
    isRefused: request.supplied !== undefined && basis.kind !== 'upstream' && match === undefined,
    authorization,
    request: { headers, body: bytes && keepBytes(bytes), size: bytes?.length ?? 0 },
    status: decided.received?.status,
    reply: reply && finishReply(reply, request, settings, serviceState.now, isProxy),
    basis,
    reasons: listReasons(basis, match, reply),
    fault,
    delay,
    hold: hold === undefined ? undefined : { name: hold, since: now.steady, isFrozen },
    findings,
    covers: call === undefined || !decided.isDelivered ? NONE : listCovered(method, call, reply),
    expected: reply?.comparison?.expected,
    patched: reply?.patched,
  };
}

/** ASCII bytes become a string, which takes less memory and is the same in every encoding. */
function keepBytes(bytes: Uint8Array): string | Uint8Array {
  return isAscii(bytes) ? toText(bytes) : bytes;
}

const ASSUMED: Basis = { kind: 'assumed', by: [] };

/** The document does not define HEAD, so a reply to HEAD is assumed, never documented. */
function assumeHead(reply: Reply | undefined): Reply | undefined {
  return reply?.basis.kind === 'documented' ? { ...reply, basis: ASSUMED } : reply;
}

const AS_DOCUMENTED: readonly string[] = [DOCUMENTED_REASON];
const AS_HTTP_REQUIRES: readonly string[] = ['as HTTP requires'];

function listReasons(
  basis: Basis,
  match: RuleMatch | undefined,
  reply: Reply | undefined,
): readonly string[] {
  if (match === undefined && basis.kind === 'documented' && reply?.reason === undefined) {
    return AS_DOCUMENTED;
  }
  const reasons: string[] = [];
  if (match !== undefined) reasons.push(match.reason);
  if (basis.kind === 'assumed') {
    for (const option of basis.by) reasons.push(`assumption ${option}`);
  }
  if (reply?.reason !== undefined) reasons.push(reply.reason);
  return reasons.length > 0 ? reasons : AS_HTTP_REQUIRES;
}

/** Adds the headers that every reply has. A reply to HEAD has a Content-Length but no body. */
function finishReply(
  reply: Reply,
  { method, origin }: Pick<ServiceRequest, 'method' | 'origin'>,
  { choices, start }: Settings,
  now: number,
  isProxy = false,
): Reply {
  const { plain = false } = start.options;
  const { status, phrase, headers: own, body, decoded, size, mediaType, basis } = reply;
  const headers: string[] = [];
  // A header that a rule, a deployment or the operation has set wins.
  const add = (name: string, value: string): void => {
    if (own.length > 0 && findHeader(own, name.toLowerCase()) !== undefined) return;
    headers.push(name, value);
  };
  const isUpstream = basis.kind === 'upstream';
  const isOfMock = !isUpstream && !isProxy;
  if (mediaType !== undefined) add('Content-Type', formatContentType(mediaType, choices));
  if (!plain && !isProxy) add('Mock-Basis', formatBasis(basis));
  if (origin !== undefined && isOfMock && choices.cors === 'allowed') {
    const names = own.filter((_, at) => at % 2 === 0);
    const exposed = new Set([...(plain ? SERVICE_HEADERS : MOCK_HEADERS), ...names]);
    add('Access-Control-Allow-Origin', origin);
    // Browsers refuse `*` to a page that sends cookies.
    if (origin !== '*') add('Access-Control-Allow-Credentials', 'true');
    add('Vary', 'Origin');
    add('Access-Control-Expose-Headers', [...exposed].join(', '));
  }
  if (isOfMock) add('Date', formatHttpDate(now));
  headers.push(...own);
  const isHead = method === 'HEAD';
  // If a deployment's reply to HEAD has no Content-Length, the length is unknown.
  if ((mayHaveContent(status) || status === 205) && !(isHead && body === undefined)) {
    headers.push('Content-Length', String(size));
  }
  return {
    status,
    phrase,
    headers,
    body: isHead ? undefined : body,
    decoded,
    size: isHead ? 0 : size,
    mediaType,
    basis,
    reason: undefined,
    unknownPreference: undefined,
    comparison: undefined,
    patched: undefined,
  };
}

/** Completes a refusal that belongs to no exchange. Pages of all origins may read it. */
export function finishRefusal(reply: Reply, { settings, clock }: State): Reply {
  return finishReply(reply, { method: 'GET', origin: '*' }, settings, readClock(clock));
}

function formatContentType(mediaType: string, choices: Choices): string {
  return choices['json-charset'] === 'utf-8' ? `${mediaType}; charset=utf-8` : mediaType;
}

function formatBasis(basis: Basis): string {
  const by = 'by' in basis ? groundsOf(basis).join(', ') : '';
  const mark = findOffContract(basis) ? ';off-contract' : '';
  return by === '' ? basis.kind : `${basis.kind};by="${encodeText(by)}"${mark}`;
}

/** Encodes a scenario's name: a structured field (RFC 9651, 3.3.3) allows ASCII only. */
function encodeText(text: string): string {
  return text.replace(/[^ !#-[\]-~]+/g, encodeURIComponent);
}

const SERVICE_HEADERS = [
  ...['Link', 'X-Total-Count', 'Retry-After', 'Deprecation', 'Sunset', 'WWW-Authenticate'],
];
const MOCK_HEADERS = ['Mock-Basis', 'Preference-Applied', ...SERVICE_HEADERS];

let dateSecond = Number.NaN;
let dateText = '';

/** Cached for a second, since every reply has a Date. */
function formatHttpDate(milliseconds: number): string {
  const second = Math.floor(milliseconds / 1000);
  if (second !== dateSecond) {
    dateSecond = second;
    dateText = new Date(milliseconds).toUTCString();
  }
  return dateText;
}
