import type { ServerResponse } from 'node:http';
import { pipeline, Readable } from 'node:stream';
import { codeOf, warn } from '../error-code.ts';

/** Characters, or bytes, in each chunk of a long text. */
const CHUNK = 64 * 1024;

type Text = string | Buffer;

/**
 * Joins the first pieces of a text.
 *
 * @returns the others as well, unless `first` is the whole text
 */
export function opened(pieces: Iterable<string>): {
  readonly first: string;
  readonly rest: Iterable<string> | undefined;
} {
  const chunks = chunksOf(pieces);
  const { value: first = '' } = chunks.next();
  return { first, rest: first.length < CHUNK ? undefined : chunks };
}

/** Joins pieces into chunks. Only the last chunk is short. */
function* chunksOf(pieces: Iterable<string>): Generator<string, undefined> {
  let chunk = '';
  for (const piece of pieces) {
    chunk += piece;
    if (chunk.length < CHUNK) continue;
    yield chunk;
    chunk = '';
  }
  yield chunk;
}

/** A stream of texts, cut into chunks between characters. */
export function streamOf(texts: Iterable<Text>): Readable {
  return Readable.from(slicesOf(texts));
}

async function* slicesOf(texts: Iterable<Text>): AsyncGenerator<Buffer> {
  for (const text of texts) {
    for (let from = 0; from < text.length; ) {
      const to = from + CHUNK;
      const isPairCut = typeof text === 'string' && /[\ud800-\udbff]/.test(text.charAt(to - 1));
      const end = isPairCut ? to + 1 : to;
      // A Buffer is written as it is; of a string, Node holds three bytes for each character.
      yield Buffer.from(text.slice(from, end));
      from = end;
      // Other requests wait for one chunk at most, however fast this client reads.
      await new Promise(setImmediate);
    }
  }
}

/** Writes a stream to a response as the client reads it, and ends the response. */
export function pour(stream: Readable, response: ServerResponse): void {
  pipeline(stream, response, (error) => {
    // Errors with a code are of connections. Others break the reply off too: it is incomplete.
    if (error && codeOf(error) === undefined) warn(error);
  });
}
