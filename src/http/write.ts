import type { IncomingMessage, ServerResponse } from 'node:http';
import { LINGER } from './connections.ts';
import { inTurn } from './faults/broken-connection.ts';

/** Characters, or bytes, in each chunk of a long text. */
const CHUNK = 64 * 1024;

/** A longer text is written chunk by chunk, as the client reads it. */
const MOST_AT_ONCE = 1024 ** 2;

type Chunk = string | Buffer;

/** The chunks of a long text; the last one is the return value. */
type Chunks = Generator<Chunk, Chunk>;

/** A reply that is written chunk by chunk. */
interface Stream {
  readonly response: ServerResponse;
  readonly rest: Chunks;
}

/** Streams whose clients accept more data. All servers of the process share this queue. */
const ready: Stream[] = [];

/** Writes the content of a response, whose head announces its length, and ends it. */
export function writeText(response: ServerResponse, text: Chunk, bytes: number): void {
  // ASCII is the same bytes in Latin-1, which Node copies instead of encoding UTF-8.
  const encoding = bytes === text.length ? 'latin1' : 'utf8';
  if (bytes > MOST_AT_ONCE) goOn({ response, rest: slicesOf(text) }, true);
  else endWith(response, text, encoding);
}

/**
 * Writes the content of a response in pieces, and ends it.
 *
 * @param setHead called before, with the whole content if it is short
 */
export function writePieces(
  response: ServerResponse,
  pieces: Iterable<string>,
  setHead: (whole: string | undefined) => void,
): void {
  const { first, rest } = opened(pieces);
  setHead(rest === undefined ? first : undefined);
  if (response.req.method === 'HEAD') response.end();
  else if (rest === undefined) response.end(first);
  else goOn({ response, rest }, response.write(first));
}

/** The first chunk of a text, and the others if there are any. */
export function opened(pieces: Iterable<string>): { first: string; rest: Chunks | undefined } {
  const chunks = chunksOf(pieces);
  const { value: first, done } = chunks.next();
  return { first, rest: done === true ? undefined : chunks };
}

/** Yields the last chunk too. */
export function* allOf(chunks: Chunks): Generator<Chunk> {
  yield yield* chunks;
}

/** Joins pieces into chunks. Holds none of them while the client does not read. */
function* chunksOf(pieces: Iterable<string>): Generator<string, string> {
  let gathered: string[] = [];
  const take = (): string => {
    const chunk = gathered.join('');
    gathered = [];
    return chunk;
  };
  let length = 0;
  for (const piece of pieces) {
    gathered.push(piece);
    length += piece.length;
    if (length < CHUNK) continue;
    length = 0;
    yield take();
  }
  return take();
}

/** Cuts a text into chunks between characters. They share its memory. */
function* slicesOf(text: Chunk): Chunks {
  let from = 0;
  while (text.length - from > CHUNK) {
    const to = from + CHUNK;
    const isPairCut = typeof text === 'string' && /[\ud800-\udbff]/.test(text.charAt(to - 1));
    const end = isPairCut ? to + 1 : to;
    yield text.slice(from, end);
    from = end;
  }
  return text.slice(from);
}

/**
 * Writes chunk after chunk until the client disconnects. Each turn of the event loop writes one
 * chunk of one stream, so other requests wait for one chunk at most, however many long replies are
 * under way.
 *
 * @param takesMore whether the client accepts more data
 */
function goOn(sent: Stream, takesMore: boolean): void {
  const { response } = sent;
  if (!takesMore) response.once('drain', () => makeReady(sent));
  else inTurn(response, () => makeReady(sent));
}

function makeReady(sent: Stream): void {
  ready.push(sent);
  if (ready.length === 1) setImmediate(takeTurn);
}

function takeTurn(): void {
  const next = ready.shift();
  if (ready.length > 0) setImmediate(takeTurn);
  if (next === undefined || next.response.destroyed) return;
  const { response, rest } = next;
  try {
    const { value, done } = rest.next();
    // A Buffer is written as it is; of a string, Node holds three bytes for each character.
    const bytes = Buffer.from(value);
    if (done === true) response.end(bytes);
    else goOn(next, response.write(bytes));
  } catch (error) {
    // The reply has begun: closing the connection tells the client that it is incomplete.
    process.emitWarning(error instanceof Error ? error : new Error(String(error)));
    response.destroy();
  }
}

/**
 * Ends a response with its whole content. `end(text)` writes twice, the second time nothing, so Node
 * sends both with writev. A single write of a string with its head takes 5 to 20 % less CPU time per
 * request.
 */
export function endWith(response: ServerResponse, text: Chunk, encoding: 'latin1' | 'utf8'): void {
  const { req, socket } = response;
  socket?.cork();
  response.write(text, encoding);
  socket?.uncork();
  if (req.complete || !hasBody(req)) response.end();
  else endAfter(req, response);
}

/** Whether a request announces a body. Without one it is complete, but Node says so only later. */
function hasBody({ headers }: IncomingMessage): boolean {
  return headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;
}

/**
 * Ends a response, which is whole, once its request is read: a connection that closes before can lose
 * the reply (RFC 9112, section 9.6).
 */
function endAfter(request: IncomingMessage, response: ServerResponse): void {
  const end = (): void => {
    clearTimeout(timer);
    response.end();
  };
  const timer = setTimeout(end, LINGER);
  request.once('end', end).once('close', end).resume();
}
