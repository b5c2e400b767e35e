import type { ServerResponse } from 'node:http';
import { pipeline } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import type { Basis, Body, Reply } from '../service/reply.ts';
import type { World } from '../service/world.ts';

/** How replies are written besides what the world's assumptions say. */
export interface Wire {
  /** Leaves out everything that tells the mock from the service. */
  readonly plain: boolean;
}

/** A reply with what HTTP adds to it. */
export interface Outcome {
  readonly reply: Reply;
  /** A reply to HEAD has the headers of the one to GET and no content (RFC 9110, section 9.3.2). */
  readonly head: boolean;
  /** Whether the request named an `Origin`, so that a browser will look for CORS headers. */
  readonly crossOrigin: boolean;
}

/** Characters of an array that are gathered before it is streamed, and of each chunk of it then. */
const CHUNK = 64 * 1024;

const EXPOSED = 'Link, X-Total-Count, Retry-After, Deprecation, Sunset, WWW-Authenticate';

/** Writes a reply to the wire. It is the only writer of service replies. */
export function send(response: ServerResponse, outcome: Outcome, world: World, wire: Wire): void {
  const { reply, head } = outcome;
  const headers = headersOf(outcome, world, wire);
  const { body } = reply;
  switch (body.kind) {
    case 'none':
      if (reply.status !== 204) headers.push('Content-Length', '0');
      response.writeHead(reply.status, headers);
      response.end();
      return;
    case 'json':
      sendText(response, reply.status, headers, body.text, head);
      return;
    case 'array': {
      const chunks = chunksOf(body.items);
      const { value: first, done } = chunks.next();
      if (done === true) sendText(response, reply.status, headers, first, head);
      else {
        response.writeHead(reply.status, headers);
        if (head) response.end();
        else stream(response, first, chunks);
      }
    }
  }
}

function sendText(
  response: ServerResponse,
  status: number,
  headers: string[],
  text: string | Buffer,
  head: boolean,
): void {
  const bytes = Buffer.byteLength(text);
  headers.push('Content-Length', String(bytes));
  response.writeHead(status, headers);
  if (head) response.end();
  // ASCII is the same bytes in Latin-1, which Node copies where it would encode UTF-8.
  else response.end(text, bytes === text.length ? 'latin1' : 'utf8');
}

/** Yields a JSON array in chunks; returns the last one. */
function* chunksOf(items: Iterable<string>): Generator<string, string> {
  let open = '[';
  let gathered: string[] = [];
  let length = 0;
  for (const item of items) {
    gathered.push(item);
    length += item.length;
    if (length < CHUNK) continue;
    yield open + gathered.join(',');
    open = ',';
    gathered = [];
    length = 0;
  }
  if (gathered.length === 0) return open === '[' ? '[]' : ']';
  return `${open}${gathered.join(',')}]`;
}

/** Sends chunk after chunk, with other requests' turns in between, until the client leaves. */
function stream(response: ServerResponse, first: string, rest: Generator<string, string>): void {
  async function* chunks(): AsyncGenerator<string> {
    yield first;
    for (;;) {
      await setImmediate();
      const { value, done } = rest.next();
      yield value;
      if (done === true) return;
    }
  }
  // A client that leaves is no error of the mock's; pipeline has cleaned up by then.
  pipeline(chunks, response, () => {});
}

function headersOf({ reply, crossOrigin }: Outcome, world: World, wire: Wire): string[] {
  const headers: string[] = [];
  const mediaType = mediaTypeOf(reply.body);
  if (mediaType !== undefined) {
    const charset = world.choices['json-charset'] === 'utf-8' ? '; charset=utf-8' : '';
    headers.push('Content-Type', mediaType + charset);
  }
  if (!wire.plain) headers.push('Mock-Basis', basisHeader(reply.basis));
  if (crossOrigin && world.choices.cors === 'allowed') {
    headers.push('Access-Control-Allow-Origin', '*');
    headers.push('Access-Control-Expose-Headers', wire.plain ? EXPOSED : `Mock-Basis, ${EXPOSED}`);
  }
  if (!world.clock.real) headers.push('Date', new Date(world.clock.now()).toUTCString());
  for (const nameOrValue of reply.headers) headers.push(nameOrValue);
  return headers;
}

function mediaTypeOf(body: Body): string | undefined {
  switch (body.kind) {
    case 'none':
      return undefined;
    case 'json':
      return body.mediaType ?? 'application/json';
    case 'array':
      return 'application/json';
  }
}

/** The `Mock-Basis` of a reply, a structured field (RFC 9651). */
export function basisHeader(basis: Basis): string {
  if (basis.kind === 'documented') return 'documented';
  return basis.by.length === 0 ? 'assumed' : `assumed;by="${basis.by.join(', ')}"`;
}
