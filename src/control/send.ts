import type { ServerResponse } from 'node:http';
import { pipeline } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { writeJson } from '../contract/json.ts';
import type { Clock } from '../service/clock.ts';
import type { ControlReply } from './endpoint.ts';

/** In characters. A longer reply is streamed in chunks of this size. */
const CHUNK = 64 * 1024;

/**
 * Sends a reply of the control API.
 *
 * @param head whether to send the headers only
 */
export function sendReply(
  response: ServerResponse,
  { status, headers = {}, body }: ControlReply,
  head: boolean,
  clock?: Clock,
): void {
  response.statusCode = status;
  // A cache does not see the changes in a sandbox.
  response.setHeader('Cache-Control', 'no-store');
  if (clock?.real === false) response.setHeader('Date', new Date(clock.now()).toUTCString());
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  switch (body.kind) {
    case 'none':
      response.end();
      return;
    case 'json':
      sendText(response, writeJson(body.value), head);
      return;
    case 'pieces': {
      const chunks = chunksOf(body.pieces);
      const { value: first, done } = chunks.next();
      if (done === true) sendText(response, first, head);
      else sendChunks(response, first, chunks, head);
      return;
    }
    case 'stream':
      response.setHeader('Content-Type', body.mediaType);
      response.flushHeaders();
      if (head) response.end();
      else body.open(response);
  }
}

function sendText(response: ServerResponse, text: string, head: boolean): void {
  response.setHeader('Content-Type', 'application/json');
  response.setHeader('Content-Length', Buffer.byteLength(text));
  response.end(head ? undefined : text);
}

/** Joins pieces to chunks. Returns the last one. */
function* chunksOf(pieces: Iterable<string>): Generator<string, string> {
  let gathered: string[] = [];
  let length = 0;
  for (const piece of pieces) {
    gathered.push(piece);
    length += piece.length;
    if (length < CHUNK) continue;
    yield gathered.join('');
    gathered = [];
    length = 0;
  }
  return gathered.join('');
}

/** Sends chunks, in turns with other requests, until the client leaves. */
function sendChunks(
  response: ServerResponse,
  first: string,
  rest: Generator<string, string>,
  head: boolean,
): void {
  response.setHeader('Content-Type', 'application/json');
  if (head) {
    response.end();
    return;
  }
  async function* chunks(): AsyncGenerator<string> {
    yield first;
    for (;;) {
      await setImmediate();
      const { value, done } = rest.next();
      yield value;
      if (done === true) return;
    }
  }
  // Not an error of the mock if the client leaves; pipeline cleans up.
  pipeline(chunks, response, () => {});
}
