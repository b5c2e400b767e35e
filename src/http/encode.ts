import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import type { State } from '../sandbox/state.ts';
import { FAULTS } from '../scenario/fault-table.ts';
import type { Outcome } from '../scenario/outcome.ts';
import { isReal, timeOf } from '../service/clock.ts';
import type { Basis, Body, Reply, StreamedBody } from '../service/reply.ts';
import { failed } from './failed.ts';
import type { Faults } from './faults/faults.ts';
import { mayHaveContent, type Written } from './faults/written-reply.ts';
import { without } from './hop-headers.ts';
import { passOn } from './pass-on.ts';
import { allOf, opened, writePieces, writeText } from './write.ts';

/** Settings of the writer beyond the assumptions. */
export interface Wire {
  /** Leaves out everything that distinguishes the mock from the service. */
  readonly plain: boolean;
  readonly faults: Faults;
}

/** How a request determines the form of its reply. */
export interface Framing {
  /** A reply to HEAD has the headers of the one to GET and no content (RFC 9110, section 9.3.2). */
  readonly head: boolean;
  /** Whether the request has an `Origin`: a browser then needs CORS headers. */
  readonly crossOrigin: boolean;
}

/** The headers that pages of other origins may read. */
export const EXPOSED = 'Link, X-Total-Count, Retry-After, Deprecation, Sunset, WWW-Authenticate';

/**
 * Sends an outcome after its delay. Nothing else writes replies of the service. Never throws: what
 * cannot be sent becomes an Error.
 */
export function send(
  response: ServerResponse,
  outcome: Outcome,
  framing: Framing,
  state: State,
  wire: Wire,
): void {
  if (outcome.delay === 0) sendNow(response, outcome, framing, state, wire);
  else {
    wire.faults.delay(response, outcome.delay, () =>
      sendNow(response, outcome, framing, state, wire),
    );
  }
}

function sendNow(
  response: ServerResponse,
  outcome: Outcome,
  framing: Framing,
  state: State,
  wire: Wire,
): void {
  try {
    if (outcome.kind === 'reply') sendReply(response, outcome.reply, framing, state, wire);
    else {
      const { fault, reply } = outcome;
      const whole = reply && written(reply, framing, state, wire);
      const isSpoilt = FAULTS[fault.kind].effect === 'spoils';
      wire.faults.carryOut(
        fault,
        response,
        isSpoilt && whole ? { ...whole, rest: undefined } : whole,
      );
    }
  } catch (error) {
    sendFailure(response, error, framing, state, wire);
  }
}

/**
 * Answers a request on which the mock itself failed. A reply that has begun is broken off: its client
 * must not take it for a whole one.
 */
export function sendFailure(
  response: ServerResponse,
  error: unknown,
  framing: Framing,
  state: State,
  wire: Wire,
): void {
  const reply = failed(state.settings.choices, error);
  if (response.headersSent) {
    if (!response.writableEnded) response.destroy();
    return;
  }
  response.statusMessage = ''; // the response keeps a phrase that could not be sent
  sendReply(response, reply, framing, state, wire);
}

function sendReply(
  response: ServerResponse,
  reply: Reply,
  framing: Framing,
  state: State,
  wire: Wire,
): void {
  const headers = headersOf(reply, framing, state, wire);
  const { status, body } = reply;
  switch (body.kind) {
    case 'none':
      if (status !== 204) headers.push('Content-Length', '0');
      response.writeHead(status, headers);
      response.end();
      return;
    case 'json':
      sendText(response, status, headers, body.text, framing.head);
      return;
    case 'pieces':
      writePieces(response, body.pieces, (whole) => {
        if (whole !== undefined) headers.push('Content-Length', String(Buffer.byteLength(whole)));
        response.writeHead(status, headers);
      });
      return;
    case 'stream':
      passOn(response, status, headers, body);
  }
}

/** A reply for a fault to send, without the length of its content; of a long one only the start is held. */
export function written(reply: Reply, framing: Framing, state: State, wire: Wire): Written {
  const { status, body } = reply;
  const headers = headersOf(reply, framing, state, wire);
  switch (body.kind) {
    case 'none':
      return { status, headers, body: '' };
    case 'json':
      return { status, headers, body: body.text };
    case 'pieces': {
      const { first, rest } = opened(body.pieces);
      return { status, headers, body: first, rest: rest && Readable.from(allOf(rest)) };
    }
    case 'stream': {
      const { held, from } = body;
      return {
        status,
        headers: mayHaveContent(status) ? without(headers, FRAMING) : headers,
        body: held?.bytes ?? '',
        rest: held?.whole ? undefined : from,
      };
    }
  }
}

/** The headers that a fault writes itself. */
const FRAMING: ReadonlySet<string> = new Set(['content-length', 'trailer']);

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
  else writeText(response, text, bytes);
}

function headersOf(
  reply: Reply,
  { head, crossOrigin }: Framing,
  state: State,
  wire: Wire,
): string[] {
  if (reply.body.kind === 'stream') return streamedHeaders(reply, wire);
  const headers: string[] = [];
  const { clock, settings } = state;
  const { choices } = settings;
  const mediaType = mediaTypeOf(reply.body);
  if (mediaType !== undefined) {
    const charset = choices['json-charset'] === 'utf-8' ? '; charset=utf-8' : '';
    headers.push('Content-Type', mediaType + charset);
  }
  if (!wire.plain) headers.push('Mock-Basis', basisHeader(reply.basis, head));
  if (crossOrigin && choices.cors === 'allowed') {
    headers.push('Access-Control-Allow-Origin', '*');
    headers.push('Access-Control-Expose-Headers', wire.plain ? EXPOSED : `Mock-Basis, ${EXPOSED}`);
  }
  if (!isReal(clock)) headers.push('Date', new Date(timeOf(clock)).toUTCString());
  for (const nameOrValue of reply.headers) headers.push(nameOrValue);
  return headers;
}

/** A deployment's headers, and nothing of ours but the basis. */
function streamedHeaders({ headers, basis }: Reply, { plain }: Wire): string[] {
  return plain ? [...headers] : [...headers, 'Mock-Basis', basisHeader(basis)];
}

function mediaTypeOf(body: Exclude<Body, StreamedBody>): string | undefined {
  switch (body.kind) {
    case 'none':
      return undefined;
    case 'json':
      return body.mediaType ?? 'application/json';
    case 'pieces':
      return 'application/json';
  }
}

/**
 * The `Mock-Basis` of a reply, a structured field (RFC 9651).
 *
 * @param head the document has no HEAD, so its replies are assumed
 */
export function basisHeader(basis: Basis, head = false): string {
  switch (basis.kind) {
    case 'documented':
      return head ? 'assumed' : 'documented';
    case 'assumed':
      return basis.by.length === 0 ? 'assumed' : `assumed;by="${basis.by.join(', ')}"`;
    case 'forced':
      return `forced;by="${basis.by}"`;
    case 'upstream':
      return 'upstream';
  }
}
