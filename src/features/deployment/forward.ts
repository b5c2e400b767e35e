import { isAscii, toText } from '../../core/bytes.ts';
import { LIMITS } from '../../core/limits.ts';
import { findHeaders, isCoded, type RawHeaders, withoutHeaders } from '../../core/raw-http.ts';
import type { ResponderCall } from '../../core/sandbox/sandboxes.ts';
import { AssumptionTrace, createReply, errorReply, type Reply } from '../../core/service/reply.ts';
import { asError } from '../../core/thrown.ts';
import { findDrift } from './find-drift.ts';
import {
  decodeContent,
  explainFailure,
  ReplyTimeoutError,
  type Transport,
  type TransportReply,
} from './transport.ts';

export interface Deployment extends Pick<Transport, 'send'> {
  readonly url: string;
  /** The key to send in place of the client's. */
  readonly key: string | undefined;
}

/** Forwards a call to a deployment and returns its reply unchanged. */
export async function forward(deployment: Deployment, forwarded: ResponderCall): Promise<Reply> {
  const { target, body, onDisconnect, sandbox, state, request } = forwarded;
  const { url } = deployment;
  const { method } = request;
  const decidedBy = new AssumptionTrace(state.choices);
  if (body.kind === 'too-large') {
    const message = `the body is larger than ${body.limit} bytes`;
    return errorReply(decidedBy, 'body_too_large', 413, message);
  }
  if (DOT_SEGMENT.test(target.replace(/[?#].*$/s, ''))) {
    const message = 'a path with "." or ".." would leave the base URL of the upstream';
    return errorReply(decidedBy, 'route_not_found', 404, message);
  }
  if (findHeaders(request.headers, 'via').some((text) => text.includes(formatVia(sandbox)))) {
    const message = `the upstream ${url} sends requests back to this sandbox`;
    return errorReply(decidedBy, 'bad_gateway', 502, message);
  }
  let received: TransportReply;
  try {
    received = await deployment.send({
      method,
      target,
      headers: forwardedHeaders(deployment, forwarded),
      body: body.kind === 'bytes' ? body.bytes : undefined,
      onDisconnect,
    });
  } catch (error) {
    const isLate = [error, asError(error).cause].some((it) => it instanceof ReplyTimeoutError);
    const why = `the upstream ${url} failed: ${explainFailure(error)}`;
    return isLate
      ? errorReply(decidedBy, 'gateway_timeout', 504, why)
      : errorReply(decidedBy, 'bad_gateway', 502, why);
  }
  const { status, phrase, headers, content } = received;
  const passed = endToEndHeaders(
    headers,
    method === 'HEAD' || status === 304 ? NOT_RETURNED_WITHOUT_BODY : NOT_RETURNED,
  );
  // For a text, Node sends head and body together.
  const text = isAscii(content) ? toText(content) : content;
  const plain = decodeContent(content, headers, LIMITS.deploymentBody);
  const decoded = isCoded(headers) && plain !== undefined ? toText(plain) : undefined;
  const answered = { body: text.length === 0 ? undefined : text, mediaType: undefined };
  const reply = createReply(UPSTREAM, status, answered, passed, `answered by ${url}`);
  const shown = Buffer.from(method === 'HEAD' ? '' : (plain ?? content));
  const comparison =
    request.call && findDrift(forwarded, request.call, { status, headers, body: shown });
  return { ...reply, phrase, decoded, comparison };
}

/** Headers that concern a single connection (RFC 9110, sections 7.6.1 and 11.7). */
const HOP_BY_HOP: readonly string[] = [
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'transfer-encoding',
  'upgrade',
];

/** Headers to drop from a reply without content. The upstream may itself be a mock. */
const NOT_RETURNED_WITHOUT_BODY = new Set([...HOP_BY_HOP, 'mock-basis', 'trailer']);
/** Headers to drop from any other reply, which gets a new Content-Length. */
const NOT_RETURNED = new Set([...NOT_RETURNED_WITHOUT_BODY, 'content-length']);

/** A path segment that a server would resolve, even if encoded (RFC 3986, section 5.2.4). */
const DOT_SEGMENT = /(?:^|[/\\]|%2f|%5c)(?:\.|%2e){1,2}(?:[/\\]|%2f|%5c|$)/i;

const SERVER = crypto.randomUUID().slice(0, 8);

/**
 * The sandbox's entry in `Via`, from which it recognizes its own requests (RFC 9110, section
 * 7.6.3). A sandbox can be the upstream of another one on the same server.
 */
function formatVia(sandbox: string): string {
  return `1.1 petstore-mock-${SERVER} (${sandbox})`;
}

const UPSTREAM = { kind: 'upstream' } as const;

/** Headers for the mock only, headers that frame the body, and `Host`. */
const NOT_FORWARDED = new Set([
  ...HOP_BY_HOP,
  'content-length',
  'expect',
  'host',
  'mock-client',
  'mock-control-token',
  'mock-sandbox',
  'trailer',
]);

/** Methods whose requests state an empty body (RFC 9110, section 8.6). */
const EXPECTS_BODY = /^(?:PATCH|POST|PUT)$/;

function forwardedHeaders(
  { key }: Deployment,
  { request, body, sandbox }: ResponderCall,
): string[] {
  const headers = endToEndHeaders(request.headers, NOT_FORWARDED);
  for (let at = 0; at < headers.length; at += 2) {
    // The token without the sandbox name.
    const token = key === undefined ? request.authorization : `Bearer ${key}`;
    if (headers[at]?.toLowerCase() === 'authorization') headers[at + 1] = token ?? '';
  }
  headers.push('Via', formatVia(sandbox));
  if (body.kind === 'bytes') headers.push('Content-Length', String(body.bytes.length));
  // Without this header, Node would announce a chunked body.
  else if (EXPECTS_BODY.test(request.method)) headers.push('Content-Length', '0');
  return headers;
}

/** @param dropped lower-case names, to which the `Connection` header adds */
function endToEndHeaders(headers: RawHeaders, dropped: ReadonlySet<string>): string[] {
  const passed: string[] = [];
  const named: string[] = [];
  for (let at = 0; at < headers.length; at += 2) {
    const [name = '', value = ''] = [headers[at], headers[at + 1]];
    const lower = name.toLowerCase();
    if (lower === 'connection') named.push(...value.toLowerCase().split(/[\s,]+/));
    if (!dropped.has(lower)) passed.push(name, value);
  }
  return named.length === 0 ? passed : withoutHeaders(passed, new Set(named));
}
