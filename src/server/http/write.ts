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

/** How long a client may take to read its last reply or to finish its request. */
const LINGER_TIMEOUT_MS = 1_000;

/**
 * Ends a connection, but reads on for a while. Otherwise a TCP reset could make the client lose the
 * reply (RFC 9112, section 9.6).
 */
export function closeWith(socket: Socket, text = ''): void {
  if (socket.writableEnded || socket.destroyed) return;
  socket.end(text).resume();
  const timer = setTimeout(() => socket.destroy(), LINGER_TIMEOUT_MS);
  socket.once('close', () => clearTimeout(timer));
}

/**
 * Answers the requests of a connection one by one, each after the previous reply has been sent. So
 * a client that does not read costs only one reply, and requests after a closing reply do not run
 * (RFC 9112, section 9.6).
 */
export function runInTurn(response: ServerResponse, run: () => void): void {
  const { socket } = response.req;
  if (socket.writableEnded) return;
  // Node assigns the socket to a response when the previous response has been written.
  if (response.socket !== null) run();
  else {
    socket.pause(); // Otherwise requests would pile up.
    const start = (): void => {
      if (socket.destroyed) return;
      socket.resume();
      run();
    };
    // Node emits `socket` amid its work on the previous response. Start when that is done.
    response.once('socket', () => process.nextTick(start));
  }
}

/** @returns a function that cancels the callback */
export function onDisconnect(socket: Socket, act: () => void): () => void {
  socket.once('close', act);
  if (socket.destroyed) act();
  return () => socket.off('close', act);
}

/** Replies that wait for a delay or are sent slowly by a fault. */
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

  /** Calls `act` after the delay, unless the client leaves first. */
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

  /** Ends all waits, and later ones at once, so that the server can close. */
  endAll(): void {
    this.#isOver = true;
    for (const end of this.#endings) end();
    this.#endings.clear();
  }
}

/**
 * Sends a 500 for a bug. If a reply has begun, breaks it off, so that its client does not take it
 * for a whole one. Never throws.
 */
export function sendFailure(response: ServerResponse, error: unknown, state: State): void {
  try {
    const reply = createFailure(state, error, NODE_PLATFORM);
    if (response.headersSent) {
      if (!response.writableEnded) response.destroy();
      return;
    }
    // Removes the headers of a reply that failed before it was sent.
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

/** Formats a whole reply as text, for a connection without a response object. */
export function formatReply(reply: Pick<Reply, 'status' | 'phrase' | 'headers' | 'body'>): string {
  // Node too writes "unknown" where it knows no phrase.
  const { status, phrase = STATUS_CODES[status] ?? 'unknown', headers, body = '' } = reply;
  const lines = headers.map((text, at) => (at % 2 === 0 ? `${text}: ` : `${text}\r\n`)).join('');
  return `HTTP/1.1 ${status} ${phrase}\r\n${lines}\r\n${typeof body === 'string' ? body : Buffer.from(body)}`;
}

/** @param content a whole text, or the pieces of a long one
 * @param headers alternating names and values; the length of the content is added */
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
 * Writes a body together with its head. With `end(text)`, Node would call writev for the text and
 * for an empty chunk, which costs more than a single write.
 */
function writeBody(response: ServerResponse, text: string | Uint8Array, size: number): void {
  const { socket } = response;
  socket?.cork();
  // For ASCII, Latin-1 gives the same bytes as UTF-8, and Node copies instead of encoding.
  response.write(text, size === text.length ? 'latin1' : 'utf8');
  socket?.uncork();
  endAfterRequest(response);
}

/** Writes a text piece by piece as the client reads it; a short text is written at once. */
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
    // Errors with a code come from the connection. Any other is a bug, and worth a warning.
    if (error && errorCode(error) === undefined) NODE_PLATFORM.warn(error);
  });
}

/** Lets other requests be answered between chunks, even if this client reads fast. */
async function* paced(chunks: Iterable<string>): AsyncGenerator<string> {
  for (const chunk of chunks) {
    yield chunk;
    await new Promise(setImmediate);
  }
}

/** Ends a response once its request has been read, for the same reason as `closeWith`. */
function endAfterRequest(response: ServerResponse): void {
  const { req } = response;
  const { 'content-length': length, 'transfer-encoding': coding } = req.headers;
  // A request without a body is complete, but Node reports that later.
  if (req.complete || (length === undefined && coding === undefined)) {
    response.end();
    return;
  }
  const end = (): void => void response.end();
  setTimeout(end, LINGER_TIMEOUT_MS).unref();
  req.once('end', end).once('close', end).resume();
}
