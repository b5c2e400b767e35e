import { isAscii } from 'node:buffer';
import type { Choices } from '../contract/assumption-table.ts';
import { findHeader, type RawHeaders } from '../raw-headers.ts';
import { FAULTS } from '../scenario/fault-table.ts';
import type { RuleMatch } from '../scenario/rules.ts';
import type { World } from '../service/operation.ts';
import { type Basis, basisReasons, mayHaveContent, type Reply } from '../service/reply.ts';
import { cut, roundDuration } from '../words.ts';
import { listShown } from './coverage.ts';
import { type Exchange, MAX_TEXT, type SentReply, type ServiceRequest } from './exchange.ts';
import type { FindingText } from './finding-codes.ts';
import type { ExpectedReply } from './report-shapes.ts';

/** What an exchange is made of. */
interface ExchangeParts {
  readonly request: ServiceRequest;
  /** The world before the call. */
  readonly world: World;
  /** Undefined if no operation ran. */
  readonly reply: Reply | undefined;
  readonly match: RuleMatch | undefined;
  readonly findings: readonly FindingText[];
  /** Leaves out the mock's own headers. */
  readonly plain: boolean;
  /** In milliseconds since 1970, by the real clock. */
  readonly wall: number;
  /** Milliseconds from the request to this. */
  readonly elapsed: number;
}

/** Characters kept of all headers of a request. */
const MAX_HEADERS = 4096;

const NONE: readonly never[] = [];

/** Makes the exchange of a request. It is what is sent, kept and shown. */
export function createExchange(parts: ExchangeParts): Exchange {
  const { request, world, match, findings, plain, elapsed } = parts;
  const { call, method, target, authorization, headers, traceparent } = request;
  const { delay = 0, fault, hold } = match ?? {};
  const reply = method === 'HEAD' ? answerHead(parts.reply) : parts.reply;
  const isShown = fault === undefined || FAULTS[fault.kind] !== 'replaces';
  const basis = reply?.basis ?? forcedBy(match);
  const body = call?.body.kind === 'bytes' ? call.body.bytes : undefined;
  return {
    number: 0,
    duration: roundDuration(elapsed + delay),
    at: world.now,
    method,
    target: cut(target, MAX_TEXT),
    operation: call?.operation,
    traceId: traceparent === undefined ? undefined : parseTraceId(traceparent),
    replays: request.replays,
    isRefused: request.given !== undefined && basis.kind !== 'upstream' && match === undefined,
    authorization: authorization && cut(authorization, MAX_TEXT),
    request: {
      headers: firstHeaders(headers),
      body: body && keepBytes(body),
      size: body?.length ?? 0,
    },
    status: isShown ? reply?.status : undefined,
    reply: reply && createSentReply(reply, request, world, plain),
    basis,
    reasons: listReasons(basis, match, reply),
    fault,
    delay,
    hold: hold === undefined ? undefined : { name: hold, since: parts.wall },
    findings,
    shows: call === undefined ? NONE : listShown(request, call, reply, fault, world),
    expected: readExpected(reply),
  };
}

/** Text takes less memory than bytes, and ASCII is the same in every encoding. */
function keepBytes(bytes: Buffer): string | Buffer {
  return isAscii(bytes) ? bytes.toString('latin1') : bytes;
}

/** The reply to HEAD. The document does not define it, so no reply of it is documented. */
function answerHead(reply: Reply | undefined): Reply | undefined {
  return reply?.basis.kind === 'documented' ? { ...reply, basis: ASSUMED } : reply;
}

const ASSUMED: Basis = { kind: 'assumed', by: [] };

/** The basis of an exchange without a reply. */
function forcedBy(match: RuleMatch | undefined): Basis {
  return match === undefined ? { kind: 'documented' } : { kind: 'forced', by: match.by };
}

function listReasons(
  basis: Basis,
  match: RuleMatch | undefined,
  reply: Reply | undefined,
): readonly string[] {
  const reasons: string[] = [];
  if (match !== undefined) reasons.push(match.reason);
  if (basis.kind === 'assumed') {
    for (const option of basis.by) reasons.push(`assumption ${option}`);
  }
  if (reply?.reason !== undefined) reasons.push(cut(reply.reason, MAX_TEXT));
  if (reasons.length > 0) return reasons;
  return basis.kind === 'documented' ? AS_DOCUMENTED : AS_HTTP_REQUIRES;
}

const AS_DOCUMENTED: readonly string[] = ['as the document prescribes'];
const AS_HTTP_REQUIRES: readonly string[] = ['as HTTP requires'];

/** A reply with all its headers but those of the connection. */
function createSentReply(
  reply: Reply,
  request: ServiceRequest,
  world: World,
  plain: boolean,
): SentReply {
  const { status, body, basis, headers: own } = reply;
  const text = body.kind === 'none' ? undefined : body.text;
  const size = text === undefined ? 0 : Buffer.byteLength(text);
  const headers: string[] = [];
  // Headers that a rule, a deployment or an operation gives are sent as they are, and not twice.
  const add = (name: string, value: string): void => {
    if (own.length > 0 && findHeader(own, name.toLowerCase()) !== undefined) return;
    headers.push(name, value);
  };
  const isUpstream = basis.kind === 'upstream';
  if (body.kind === 'json') add('Content-Type', contentType(body.mediaType, world.choices));
  if (!plain) add('Mock-Basis', formatBasis(basis));
  if (request.crossOrigin && !isUpstream && world.choices.cors === 'allowed') {
    add('Access-Control-Allow-Origin', '*');
    add('Access-Control-Expose-Headers', exposedHeaders(plain));
  }
  if (!isUpstream) add('Date', formatHttpDate(world.now));
  for (const nameOrValue of own) headers.push(nameOrValue);
  const isHead = request.method === 'HEAD';
  // A deployment's reply to HEAD says how long the body would be; its other lengths are those of
  // what was received.
  if (mayHaveContent(status) && !(isUpstream && isHead)) {
    headers.push('Content-Length', String(size));
  }
  if (isHead || text === undefined) {
    return { status, headers: shareEqual(headers), body: undefined, size: 0, phrase: reply.phrase };
  }
  return { status, headers: shareEqual(headers), body: text, size, phrase: reply.phrase };
}

let latestHeaders: string[] = [];

/** The headers of the reply before if they are equal: they are a sixth of what a journal keeps. */
function shareEqual(headers: string[]): string[] {
  const latest = latestHeaders;
  const isEqual =
    headers.length === latest.length && headers.every((text, at) => text === latest[at]);
  if (!isEqual) latestHeaders = headers;
  return latestHeaders;
}

function contentType(mediaType = 'application/json', choices: Choices): string {
  return choices['json-charset'] === 'utf-8' ? `${mediaType}; charset=utf-8` : mediaType;
}

/** The `Mock-Basis` of a reply, a structured field (RFC 9651). */
function formatBasis(basis: Basis): string {
  switch (basis.kind) {
    case 'documented':
    case 'upstream':
      return basis.kind;
    case 'assumed':
      return basis.by.length === 0 ? 'assumed' : `assumed;by="${basis.by.join(', ')}"`;
    case 'forced':
      return `forced;by="${basis.by}"`;
  }
}

const SERVICE_HEADERS = 'Link, X-Total-Count, Retry-After, Deprecation, Sunset, WWW-Authenticate';

/** The headers that pages of other origins may read. */
function exposedHeaders(plain: boolean): string {
  return plain ? SERVICE_HEADERS : `Mock-Basis, Preference-Applied, ${SERVICE_HEADERS}`;
}

let dateSecond = Number.NaN;
let dateText = '';

/** A `Date` header. Made once a second, since it takes a microsecond. */
function formatHttpDate(milliseconds: number): string {
  const second = Math.floor(milliseconds / 1000);
  if (second !== dateSecond) {
    dateSecond = second;
    dateText = new Date(milliseconds).toUTCString();
  }
  return dateText;
}

/** Whole pairs of a name and a value. */
function firstHeaders(headers: RawHeaders): RawHeaders {
  let length = 0;
  for (let at = 0; at < headers.length; at += 1) {
    length += headers[at]?.length ?? 0;
    if (length > MAX_HEADERS) return headers.slice(0, at - (at % 2));
  }
  return headers;
}

function readExpected(reply: Reply | undefined): ExpectedReply | undefined {
  const { expected } = reply?.comparison ?? {};
  if (expected === undefined) return undefined;
  const why = expected.reason && cut(expected.reason, MAX_TEXT);
  return { status: expected.status, by: basisReasons(expected.basis), why };
}

/** W3C Trace Context. Ids are not zero, and only versions after 00 may have more fields. */
const TRACEPARENT =
  /^(?!ff|00.{54})[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?:-.*)?$/;

/** The trace that a `traceparent` names; undefined if it is malformed. */
function parseTraceId(traceparent: unknown): string | undefined {
  return typeof traceparent === 'string' ? TRACEPARENT.exec(traceparent)?.[1] : undefined;
}
