import type { ServerResponse } from 'node:http';
import { isAscii, toText } from '../../core/bytes.ts';
import { tryParseJson } from '../../core/contract/json.ts';
import { LIMITS } from '../../core/limits.ts';
import { endToEndHeaders, HOP_BY_HOP, isCoded } from '../../core/raw-http.ts';
import { needsService, readServiceState } from '../../core/sandbox/answer.ts';
import type { Exchange, ServiceRequest } from '../../core/sandbox/exchange.ts';
import type { Preference } from '../../core/sandbox/preference.ts';
import type { Sandbox } from '../../core/sandbox/sandbox.ts';
import { type Upstream, UpstreamError } from '../../core/sandbox/state.ts';
import type { Call, RequestBody } from '../../core/service/input.ts';
import { AssumptionTrace, type Body, errorReply, type Reply } from '../../core/service/reply.ts';
import { handleRequest, type ServerPersistence } from '../persistence/persistence.ts';
import { decodeContent } from './decode-content.ts';
import { onDisconnect } from './write.ts';

interface ForwardRequest {
  readonly persistence: ServerPersistence;
  /** The one that the sandbox had when the request's head was read. */
  readonly upstream: Upstream;
  /** What the target asks of the service, as `belowBase` returns it. */
  readonly below: string;
  readonly response: ServerResponse;
  readonly body: RequestBody;
  readonly sandbox: Sandbox;
  readonly request: ServiceRequest;
  readonly preference: Promise<Preference | undefined> | undefined;
}

/** Lets the upstream answer, unless a rule of the sandbox does, and records the exchange. */
export async function forward(forwarded: ForwardRequest): Promise<Exchange> {
  const { persistence, sandbox, request } = forwarded;
  const preference = await forwarded.preference;
  const { call } = request;
  const match = call && (await persistence.run(sandbox, () => sandbox.match(call, preference)));
  const reply = needsService(match) ? await askUpstream(forwarded) : undefined;
  const answered = { ...request, given: { reply, match } };
  return handleRequest(persistence, sandbox, answered, preference);
}

async function askUpstream(forwarded: ForwardRequest): Promise<Reply> {
  const { upstream, below, body, response, sandbox, request } = forwarded;
  const { method } = request;
  const decidedBy = new AssumptionTrace(sandbox.state.settings.choices);
  if (body.kind === 'too-large') {
    const message = `the body is larger than ${body.limit} bytes`;
    return errorReply(decidedBy, 'body_too_large', 413, message);
  }
  if (DOT_SEGMENT.test(below.replace(/[?#].*$/s, ''))) {
    const message = 'a path with "." or ".." would leave the base URL of the upstream';
    return errorReply(decidedBy, 'route_not_found', 404, message);
  }
  const viaHeaders = request.headers.filter(
    (_, at, { [at - 1]: name }) => at % 2 === 1 && name?.toLowerCase() === 'via',
  );
  if (viaHeaders.some((text) => text.includes(formatVia(sandbox)))) {
    const message = `the upstream ${upstream.url} sends requests back to this sandbox`;
    return errorReply(decidedBy, 'bad_gateway', 502, message);
  }
  try {
    const { status, phrase, headers, content } = await upstream.send({
      method,
      target: below,
      headers: forwardedHeaders(forwarded),
      body: body.kind === 'bytes' ? body.bytes : undefined,
      onDisconnect: (act) => onDisconnect(response.req.socket, act),
    });
    const passed = endToEndHeaders(
      headers,
      method === 'HEAD' || status === 304 ? NOT_RETURNED_WITHOUT_BODY : NOT_RETURNED,
    );
    // Node writes a text with its head at once.
    const text = isAscii(content) ? toText(content) : content;
    const plain = decodeContent(content, headers, LIMITS.deploymentBody.max);
    const decoded = isCoded(headers) && plain !== undefined ? toText(plain) : undefined;
    const answered: Body = text.length === 0 ? { kind: 'none' } : { kind: 'raw', text, decoded };
    const reply = { status, phrase, headers: passed, body: answered, basis: UPSTREAM };
    const reason = `answered by ${upstream.url}`;
    return request.call === undefined
      ? { ...reply, reason }
      : { ...reply, reason, ...compare(forwarded, request.call, { status, headers, plain }) };
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error;
    return error.late
      ? errorReply(decidedBy, 'gateway_timeout', 504, error.message)
      : errorReply(decidedBy, 'bad_gateway', 502, error.message);
  }
}

/** The upstream can itself be a mock. */
const NOT_RETURNED_WITHOUT_BODY = new Set([...HOP_BY_HOP, 'mock-basis', 'trailer']);
/** The length is written anew. */
const NOT_RETURNED = new Set([...NOT_RETURNED_WITHOUT_BODY, 'content-length']);

/** A segment that a server resolves, also encoded (RFC 3986, section 5.2.4). */
const DOT_SEGMENT = /(?:^|[/\\]|%2f|%5c)(?:\.|%2e){1,2}(?:[/\\]|%2f|%5c|$)/i;

const SERVER = crypto.randomUUID().slice(0, 8);

/**
 * What a sandbox adds to `Via`, by which it knows its own requests (RFC 9110, section 7.6.3). A sandbox
 * can be the upstream of another one of the same server.
 */
function formatVia({ name }: Sandbox): string {
  return `1.1 petstore-mock-${SERVER} (${name})`;
}

const UPSTREAM = { kind: 'upstream' } as const;

function compare(
  { upstream, sandbox, request }: ForwardRequest,
  call: Call,
  reply: Pick<Reply, 'status' | 'headers'> & { readonly plain: Uint8Array | undefined },
): Pick<Reply, 'comparison'> {
  const { status, headers, plain } = reply;
  const json = plain && tryParseJson(toText(plain));
  const body = request.method === 'HEAD' ? undefined : plain;
  const serviceState = readServiceState(sandbox.state, Date.now());
  return {
    comparison: upstream.compare(serviceState, call, { status, headers, body, json }),
  };
}

/** Headers for the mock, those of the framing, which is written anew, and the name of this server. */
const NOT_FORWARDED = new Set([
  ...HOP_BY_HOP,
  'content-length',
  'expect',
  'host',
  'mock-control-token',
  'mock-sandbox',
  'trailer',
]);

/** Methods whose requests say that they have no body (RFC 9110, section 8.6). */
const EXPECTS_BODY = /^(?:PATCH|POST|PUT)$/;

function forwardedHeaders({ request, upstream, body, sandbox }: ForwardRequest): string[] {
  const { key } = upstream;
  const headers = endToEndHeaders(request.headers, NOT_FORWARDED);
  for (let at = 0; at < headers.length; at += 2) {
    // Without the sandbox name that a token can carry.
    const token = key === undefined ? request.authorization : `Bearer ${key}`;
    if (headers[at]?.toLowerCase() === 'authorization') headers[at + 1] = token ?? '';
  }
  headers.push('Via', formatVia(sandbox));
  if (body.kind === 'bytes') headers.push('Content-Length', String(body.bytes.length));
  // Node would announce chunks.
  else if (EXPECTS_BODY.test(request.method)) headers.push('Content-Length', '0');
  return headers;
}
