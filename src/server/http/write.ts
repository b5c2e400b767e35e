import { type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { pipeline, Readable } from 'node:stream';
import { clearTimeout, setImmediate, setTimeout } from 'node:timers';
import { mayHaveContent } from '../../core/raw-http.ts';
import { finishRefusal } from '../../core/sandbox/create-exchange.ts';
import { createFailure } from '../../core/sandbox/sandbox.ts';
import type { State } from '../../core/sandbox/state.ts';
import type { Reply } from '../../core/service/reply.ts';
import { CHUNK, joinChunks } from '../../core/store/store-text.ts';
import { errorCode } from '../../core/thrown.ts';
import { NODE_PLATFORM } from '../node-platform.ts';

/** A client has this long to read its last reply, or to send the rest of its request. */
const LINGER_TIMEOUT_MS = 1_000;

/**
 * Ends a connection, and goes on reading for a while: otherwise a reset can overtake the reply (RFC
 * 9112, section 9.6).
 */
export function closeWith(socket: Socket, text = ''): void {
  if (socket.writableEnded || socket.destroyed) return;
  socket.end(text).resume();
  const timer = setTimeout(() => socket.destroy(), LINGER_TIMEOUT_MS);
  socket.once('close', () => clearTimeout(timer));
}

/**
 * Answers the requests of a connection one after the other, each when the reply before it has left.
 * So a client that does not read costs one reply, and what follows a reply that closes the connection
 * is not run (RFC 9112, section 9.6).
 */
export function runInTurn(response: ServerResponse, run: () => void): void {
  const { socket } = response.req;
  if (socket.writableEnded) return;
  // Node gives a response the socket once the response before it is written.
  if (response.socket !== null) run();
  else {
    socket.pause(); // else requests would pile up
    const start = (): void => {
      if (socket.destroyed) return;
      socket.resume();
      run();
    };
    // Later, since Node emits it while it finishes the response before, whose client may have left.
    response.once('socket', () => process.nextTick(start));
  }
}

/** @returns what cancels the callback */
export function onDisconnect(socket: Socket, act: () => void): () => void {
  socket.once('close', act);
  if (socket.destroyed) act();
  return () => socket.off('close', act);
}

/** The replies of one server that are complete but wait: for a delay, or in a slow fault. */
export class PendingResponses {
  readonly #endings = new Set<() => void>();
  #isOver = false;

  add(response: ServerResponse, end: () => void): void {
    if (this.#isOver) {
      end();
      return;
    }
    this.#endings.add(end);
    response.once('close', () => this.#endings.delete(end));
  }

  /** Calls `act` after some milliseconds, unless the client disconnects first. */
  delay(response: ServerResponse, milliseconds: number, act: () => void): void {
    const end = (): void => {
      clearTimeout(timer);
      this.#endings.delete(end);
      if (!response.destroyed) act();
    };
    const timer = setTimeout(end, milliseconds);
    response.once('close', () => clearTimeout(timer));
    this.add(response, end);
  }

  /** Ends all of them, and each later one as soon as it begins, so that the server can close. */
  endAll(): void {
    this.#isOver = true;
    for (const end of this.#endings) end();
    this.#endings.clear();
  }
}

/**
 * Answers a request that failed because of a bug. A reply that has begun is broken off: its client
 * must not take it for a whole one. Never throws.
 */
export function sendFailure(response: ServerResponse, error: unknown, state: State): void {
  try {
    const reply = createFailure(state, error, NODE_PLATFORM);
    if (response.headersSent) {
      if (!response.writableEnded) response.destroy();
      return;
    }
    // What is left of a head that failed.
    for (const name of response.getHeaderNames()) response.removeHeader(name);
    response.statusMessage = '';
    const closing = { ...reply, headers: ['Connection', 'close'] };
    sendReply(response, finishRefusal(closing, state));
  } catch (failure) {
    NODE_PLATFORM.warn(failure);
    response.destroy();
  }
}

export function sendReply(
  response: ServerResponse,
  { status, phrase, headers, body, size }: Reply,
): void {
  response.sendDate = false;
  if (phrase === undefined) response.writeHead(status, [...headers]);
  else response.writeHead(status, phrase, [...headers]);
  if (body === undefined) response.end();
  else writeBody(response, body, size);
}

/** A whole reply as text, for a connection without a response object. */
export function formatReply({ status, headers, body = '' }: Reply): string {
  const lines = headers.map((text, at) => (at % 2 === 0 ? `${text}: ` : `${text}\r\n`)).join('');
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines}\r\n${typeof body === 'string' ? body : Buffer.from(body)}`;
}

/** @param content a whole text, or pieces that are never joined
 * @param headers names and values in turn; the length of the content is added */
export function writeReply(
  response: ServerResponse,
  status: number,
  headers: string[],
  content: string | Iterable<string> | undefined,
): void {
  if (content === undefined) {
    const framing = mayHaveContent(status) ? ['Content-Length', '0'] : [];
    response.writeHead(status, [...headers, ...framing]).end();
  } else if (typeof content === 'string') {
    writeWhole(response, status, headers, content);
  } else writePieces(response, status, headers, content);
}

function writeWhole(
  response: ServerResponse,
  status: number,
  headers: string[],
  text: string,
): void {
  const size = Buffer.byteLength(text);
  response.writeHead(status, [...headers, 'Content-Length', String(size)]);
  if (response.req.method === 'HEAD') response.end();
  else writeBody(response, text, size);
}

/**
 * Writes a body. `end(text)` would write twice, the second time nothing, so Node sends both with
 * writev. A single write of a string with its head is cheaper.
 */
function writeBody(response: ServerResponse, text: string | Uint8Array, size: number): void {
  const { socket } = response;
  socket?.cork();
  // ASCII is the same bytes in Latin-1, which Node copies instead of encoding UTF-8.
  response.write(text, size === text.length ? 'latin1' : 'utf8');
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
  const chunks = joinChunks(pieces);
  const { value: first = '' } = chunks.next();
  if (first.length < CHUNK) {
    writeWhole(response, status, headers, first);
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
    if (error && errorCode(error) === undefined) NODE_PLATFORM.warn(error);
  });
}

/** Lets other requests be answered between two chunks, however fast this client reads. */
async function* paced(chunks: Iterable<string>): AsyncGenerator<string> {
  for (const chunk of chunks) {
    yield chunk;
    await new Promise(setImmediate);
  }
}

/** Ends a response once its request is read, for the same reason as `closeWith`. */
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
