import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import { pipeline, Readable } from 'node:stream';
import type { RequestRecord } from '../evidence/exchange.ts';
import { codeOf, warn } from '../node-errors.ts';
import { without } from '../raw-headers.ts';
import { KeeperError } from '../sandbox/keeper.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import type { State } from '../sandbox/state.ts';
import type { Outcome } from '../scenario/rules.ts';
import { isReal, timeOf } from '../service/clock.ts';
import type { Call } from '../service/input.ts';
import {
  type Basis,
  type Body,
  errorReply,
  Grounds,
  mayHaveContent,
  type Reply,
} from '../service/reply.ts';
import { CHUNK, chunksOf } from '../store/store-text.ts';
import { LINGER_TIMEOUT_MS, replaceWith } from './connections.ts';
import { corsHeaders } from './cors.ts';
import { applyFault, type WireReply } from './faults.ts';
import { framingHeaders } from './framing.ts';
import { passOn, whenLeft } from './pass-on.ts';
import type { PendingResponses } from './pending-responses.ts';

/** Settings of the writer beyond the assumptions. */
export interface Wire {
  /** Leaves out everything that distinguishes the mock from the service. */
  readonly plain: boolean;
  readonly pending: PendingResponses;
}

/** A request that is being answered, as the journal and the encoder read it. */
export interface ServiceRequest extends RequestRecord {
  readonly incoming: IncomingMessage;
  readonly response: ServerResponse;
  readonly sandbox: Sandbox;
  readonly wire: Wire;
  call: Call | undefined;
}

/** Sends an outcome that is recorded, after its hold and its delay. */
export function finish(request: ServiceRequest, outcome: Outcome): void {
  const { incoming, response, sandbox, wire } = request;
  const { hold, delay } = outcome;
  const send = (): void => {
    if (delay === 0) sendNow(request, outcome);
    else wire.pending.delay(response, delay, () => sendNow(request, outcome));
  };
  if (hold === undefined) send();
  else sandbox.hold(hold, { send, whenLeft: (act) => whenLeft(incoming.socket, act) });
}

/** Never throws: what cannot be sent becomes an Error. */
function sendNow({ response, sandbox: { state }, wire }: ServiceRequest, outcome: Outcome): void {
  try {
    if (outcome.kind === 'reply') sendReply(response, outcome.reply, state, wire);
    else {
      const { fault, reply } = outcome;
      const whole = reply && wireReply(reply, response.req, state, wire);
      applyFault(fault, response, whole, wire.pending);
    }
  } catch (error) {
    sendFailure(response, error, state, wire);
  }
}

/** The Error for a client whose request failed in the log, or in the mock: a bug, also a warning. */
export function failureReply({ settings: { choices } }: State, error: unknown): Reply {
  const grounds = new Grounds(choices);
  if (error instanceof KeeperError) return errorReply(grounds, error.code, 503, error.refusal);
  warn(error);
  return errorReply(grounds, 'internal_error', 500, 'the mock itself failed');
}

/**
 * Answers a request on which the mock itself failed. A reply that has begun is broken off: its client
 * must not take it for a whole one.
 */
export function sendFailure(
  response: ServerResponse,
  error: unknown,
  state: State,
  wire: Pick<Wire, 'plain'>,
): void {
  const reply = failureReply(state, error);
  if (response.headersSent) {
    if (!response.writableEnded) response.destroy();
    return;
  }
  const headers = ['Connection', 'close'];
  replaceWith(response, replyText({ ...reply, headers }, state, wire));
}

/** Sends a reply at once. */
export function sendReply(
  response: ServerResponse,
  reply: Reply,
  state: State,
  wire: Pick<Wire, 'plain'>,
): void {
  const { status, body } = reply;
  const headers = replyHeaders(reply, response.req, state, wire);
  if (body.kind === 'stream') passOn(response, status, headers, body);
  else writeReply(response, status, headers, textOf(body));
}

/**
 * The content of a reply: a whole text, pieces that are never joined, or a function that takes over the
 * response.
 */
export type Content = string | Buffer | Iterable<string> | ((response: ServerResponse) => void);

/**
 * Writes a reply of the service, the control API or a root. Nothing else does, except for faults and
 * for what a deployment answers.
 *
 * @param headers names and values in turn; the length of the content is added
 */
export function writeReply(
  response: ServerResponse,
  status: number,
  headers: string[],
  content: Content | undefined,
): void {
  if (content === undefined) {
    headers.push(...framingHeaders(status, 0));
    response.writeHead(status, headers);
    response.end();
  } else if (typeof content === 'string' || Buffer.isBuffer(content)) {
    writeText(response, status, headers, content);
  } else if (typeof content !== 'function') writePieces(response, status, headers, content);
  else {
    response.writeHead(status, headers).flushHeaders();
    if (response.req.method === 'HEAD') response.end();
    else content(response);
  }
}

/** A whole reply as text, for a connection without a response object. */
export function replyText(reply: Reply, state: State, wire: Pick<Wire, 'plain'>): string {
  const { status, body } = reply;
  const text = textOf(body) ?? '';
  const headers = replyHeaders(reply, undefined, state, wire);
  headers.push('Content-Length', String(Buffer.byteLength(text)));
  // Node adds it to the replies that it writes itself.
  if (isReal(state.clock)) headers.push('Date', new Date().toUTCString());
  const lines = headers.map((it, at) => (at % 2 === 0 ? `${it}: ` : `${it}\r\n`)).join('');
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines}\r\n${text}`;
}

function writeText(
  response: ServerResponse,
  status: number,
  headers: string[],
  text: string | Buffer,
): void {
  const bytes = Buffer.byteLength(text);
  headers.push('Content-Length', String(bytes));
  response.writeHead(status, headers);
  if (response.req.method === 'HEAD') {
    response.end();
    return;
  }
  // `end(text)` writes twice, the second time nothing, so Node sends both with writev. A single write
  // of a string with its head takes 5 to 20 % less CPU time per request.
  const { socket } = response;
  socket?.cork();
  // ASCII is the same bytes in Latin-1, which Node copies instead of encoding UTF-8.
  response.write(text, bytes === text.length ? 'latin1' : 'utf8');
  socket?.uncork();
  endAfterRequest(response);
}

/** Writes a text as the client reads it, unless it is short. */
function writePieces(
  response: ServerResponse,
  status: number,
  headers: string[],
  pieces: Iterable<string>,
): void {
  const chunks = chunksOf(pieces);
  const { value: first = '' } = chunks.next();
  if (first.length < CHUNK) {
    writeText(response, status, headers, first);
    return;
  }
  response.writeHead(status, headers);
  if (response.req.method === 'HEAD') {
    response.end();
    return;
  }
  response.write(first);
  pipeline(Readable.from(paced(chunks)), response, (error) => {
    // Errors with a code are of connections. Others break the reply off too: it is incomplete.
    if (error && codeOf(error) === undefined) warn(error);
  });
}

/** Lets other requests be answered between two chunks, however fast this client reads. */
async function* paced(chunks: Iterable<string>): AsyncGenerator<string> {
  for (const chunk of chunks) {
    yield chunk;
    await new Promise(setImmediate);
  }
}

/**
 * Ends a response whose content is written, once its request is read: otherwise a reset can overtake
 * the reply (RFC 9112, section 9.6).
 */
function endAfterRequest(response: ServerResponse): void {
  const { req } = response;
  const { 'content-length': length, 'transfer-encoding': coding } = req.headers;
  // Without a body a request is complete, but Node says so only later.
  if (req.complete || (length === undefined && coding === undefined)) {
    response.end();
    return;
  }
  const end = (): void => void response.end();
  setTimeout(end, LINGER_TIMEOUT_MS).unref();
  req.once('end', end).once('close', end).resume();
}

/** A reply for a fault to break. Of a long one, only the start is held. */
function wireReply(reply: Reply, request: IncomingMessage, state: State, wire: Wire): WireReply {
  const { status, body } = reply;
  const headers = replyHeaders(reply, request, state, wire);
  if (body.kind !== 'stream') return { status, headers, body: textOf(body) ?? '' };
  return {
    status,
    headers: mayHaveContent(status) ? without(headers, FRAMING) : headers,
    body: body.held?.bytes ?? '',
    rest: body.held?.whole ? undefined : body.from,
  };
}

function textOf(body: Body): string | Buffer | undefined {
  return body.kind === 'json' ? body.text : undefined;
}

/** The headers that a fault writes itself. */
const FRAMING: ReadonlySet<string> = new Set(['content-length', 'trailer']);

/** The headers of a reply, without those of its framing. */
function replyHeaders(
  { body, basis, headers: own }: Reply,
  request: IncomingMessage | undefined,
  { clock, settings: { choices } }: State,
  { plain }: Pick<Wire, 'plain'>,
): string[] {
  // The document has no HEAD, so its replies are assumed.
  const shown = plain ? [] : ['Mock-Basis', basisHeader(basis, request?.method === 'HEAD')];
  // Of the mock's own headers, a deployment's reply gets only the basis.
  if (body.kind === 'stream') return [...own, ...shown];
  const headers: string[] = [];
  if (body.kind !== 'none') {
    const type = (body.kind === 'json' && body.mediaType) || 'application/json';
    const charset = choices['json-charset'] === 'utf-8' ? '; charset=utf-8' : '';
    headers.push('Content-Type', type + charset);
  }
  headers.push(...shown);
  if (request?.headers.origin !== undefined) headers.push(...corsHeaders(choices, plain, own));
  if (!isReal(clock)) headers.push('Date', new Date(timeOf(clock)).toUTCString());
  for (const nameOrValue of own) headers.push(nameOrValue);
  return headers;
}

/** The `Mock-Basis` of a reply, a structured field (RFC 9651). */
export function basisHeader(basis: Basis, isHead: boolean): string {
  switch (basis.kind) {
    case 'documented':
      return isHead ? 'assumed' : 'documented';
    case 'assumed':
      return basis.by.length === 0 ? 'assumed' : `assumed;by="${basis.by.join(', ')}"`;
    case 'forced':
      return `forced;by="${basis.by}"`;
    case 'upstream':
      return 'upstream';
  }
}
