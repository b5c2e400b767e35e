import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { performance } from 'node:perf_hooks';
import { clearInterval, setInterval } from 'node:timers';
import { withoutHeaders } from '../../core/raw-http.ts';
import {
  FAULTS,
  type Fault,
  FRAMING,
  spoilJson,
  type WireFault,
} from '../../core/scenario/fault-table.ts';
import { MAX_DELAY_MS } from '../../core/scenario/settings-shapes.ts';
import { mayHaveContent, type Reply } from '../../core/service/reply.ts';
import { unwrapTls } from './tls.ts';
import { closeWith, framingHeaders, type PendingResponses } from './write.ts';

/** The reply to break; its body is what GET would get, also in a reply to HEAD. */
export type WireReply = Pick<Reply, 'status' | 'headers' | 'body'>;

const stale = new WeakSet<Socket>();

/** Lets a connection look open to its client, although the server has closed it. */
export function makeStale({ req }: ServerResponse): void {
  stale.add(req.socket);
}

/** A call that reuses a stale connection meets a reset. False if it does not. */
export function resetStale(response: ServerResponse): boolean {
  const isStale = stale.has(response.req.socket);
  if (isStale) reset(response);
  return isStale;
}

export function applyFault(
  fault: WireFault,
  response: ServerResponse,
  reply: WireReply | undefined,
  pending: PendingResponses,
): void {
  if (reply === undefined && FAULTS[fault.kind] !== 'replaces')
    throw new Error(`${fault.kind} needs a reply`);
  const { status = 0, headers = [], body } = reply ?? {};
  const broken = { status, headers: withoutHeaders(headers, FRAMING), body };
  if (fault.kind === 'slow-body') slowBody(response, broken, fault, pending);
  else BREAKS[fault.kind](response, broken, pending);
}

/** What replaces a reply does not look at it. */
type Break = (response: ServerResponse, reply: WireReply, pending: PendingResponses) => void;

const BREAKS: Readonly<Record<Exclude<WireFault['kind'], 'slow-body'>, Break>> = {
  reset,
  close: endConnection,
  hang,
  truncate,
  'malformed-json': malformedJson,
  'bad-chunk': badChunk,
};

function reset({ req: { socket } }: ServerResponse): void {
  try {
    unwrapTls(socket).resetAndDestroy();
  } catch {
    // An embedding app may listen on something other than TCP, which has no reset.
    socket.destroy();
  }
}

function hang(response: ServerResponse, _reply: WireReply, pending: PendingResponses): void {
  pending.delay(response, MAX_DELAY_MS, () => void response.req.socket.destroy());
}

/**
 * Sends half the body that `Content-Length` announces, then closes the connection. An empty body is
 * announced as one byte. A reply without content, to HEAD or with 204, is cut in its head.
 */
function truncate(response: ServerResponse, reply: WireReply): void {
  const { socket } = response.req;
  if (hasContent(response, reply)) {
    const bytes = bodyBytes(reply);
    writeHead(response, reply, Math.max(bytes.length, 1));
    response.flushHeaders();
    // Bypasses the response, which would consider the reply complete.
    socket.write(bytes.subarray(0, bytes.length >> 1));
  } else {
    // Cut within the status: some clients consider the head complete after it.
    socket.write(`HTTP/1.1 ${String(reply.status).slice(0, 1)}`);
  }
  endConnection(response);
}

/** A complete body that is not JSON. A status without a body, such as 204, stays as it is. */
function malformedJson(response: ServerResponse, reply: WireReply): void {
  const spoilt = spoilJson(bodyBytes(reply));
  writeHead(response, reply, spoilt.length);
  response.end(hasContent(response, reply) ? spoilt : '');
}

/**
 * Sends a chunked body whose second chunk size is not a number, then closes the connection. A reply
 * that cannot have chunks, to HTTP/1.0 or without content, is truncated instead.
 */
function badChunk(response: ServerResponse, reply: WireReply): void {
  const { httpVersion, socket } = response.req;
  if (httpVersion === '1.0' || !hasContent(response, reply)) {
    truncate(response, reply);
    return;
  }
  const bytes = bodyBytes(reply);
  const half = bytes.length >> 1;
  response.writeHead(reply.status, [...reply.headers, 'Transfer-Encoding', 'chunked']);
  response.flushHeaders();
  // Bypasses Node, which writes every chunk correctly.
  if (half > 0) socket.write(formatChunk(half.toString(16), bytes.subarray(0, half)));
  socket.write(formatChunk('xyz', bytes.subarray(half)));
  endConnection(response);
}

function formatChunk(size: string, content: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${size}\r\n`), content, Buffer.from('\r\n')]);
}

/** Sends the head at once, then the body in evenly spaced pieces. */
function slowBody(
  response: ServerResponse,
  reply: WireReply,
  { chunks, over }: Extract<Fault, { kind: 'slow-body' }>,
  pending: PendingResponses,
): void {
  const body = bodyBytes(reply);
  writeHead(response, reply, body.length);
  if (!hasContent(response, reply) || body.length === 0) {
    response.end();
    return;
  }
  response.flushHeaders();
  const start = performance.now();
  let sent = 0;
  let isOver = false;
  const sendRest = (): void => {
    clearInterval(timer);
    if (isOver) return;
    isOver = true;
    response.end(body.subarray(sent));
  };
  const timer = setInterval(() => {
    // Paced by the clock: the delays of timers add up.
    const due = Math.round(((performance.now() - start) * chunks) / over);
    const to = Math.floor((body.length * due) / chunks);
    if (due >= chunks) sendRest();
    else if (to > sent) response.write(body.subarray(sent, to));
    sent = to;
  }, over / chunks);
  response.once('close', () => clearInterval(timer));
  pending.add(response, sendRest);
}

function bodyBytes({ body = '' }: WireReply): Buffer {
  return Buffer.from(body);
}

/** Whether the reply comes with content (RFC 9110, section 6.4.1). */
function hasContent({ req }: ServerResponse, { status }: WireReply): boolean {
  return req.method !== 'HEAD' && mayHaveContent(status);
}

function writeHead(response: ServerResponse, reply: WireReply, length: number): void {
  const { status, headers } = reply;
  response.writeHead(status, [...headers, ...framingHeaders(status, length)]);
}

/** Closes the connection with a FIN, not a reset, once everything written is sent. */
function endConnection({ req }: ServerResponse): void {
  closeWith(req.socket);
  req.resume();
}
