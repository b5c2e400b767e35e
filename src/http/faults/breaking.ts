import type { ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { closeWith } from '../linger.ts';

/** A reply as it goes on the wire. */
export interface WireReply {
  readonly status: number;
  /** Names and values in turn, without `Content-Length` and `Transfer-Encoding`. */
  readonly headers: readonly string[];
  /** The content that GET would get, also in a reply to HEAD. */
  readonly body: string | Buffer;
  /** What follows a body that is too large to be held. */
  readonly rest?: Readable | undefined;
}

/** Whether the reply comes with content (RFC 9110, section 6.4.1). */
export function hasContent(response: ServerResponse, { status }: WireReply): boolean {
  return response.req.method !== 'HEAD' && mayHaveContent(status);
}

/** Whether replies with a status have content (RFC 9110, section 6.4.1). */
export function mayHaveContent(status: number): boolean {
  return status !== 204 && status !== 304;
}

/**
 * Writes a head that announces `length` bytes of content, if the status may have content. A rest adds
 * an unknown number.
 */
export function writeHead(response: ServerResponse, reply: WireReply, length: number): void {
  const { status, headers, rest } = reply;
  const isKnown = mayHaveContent(status) && rest === undefined;
  response.writeHead(
    status,
    isKnown ? [...headers, 'Content-Length', String(length)] : [...headers],
  );
}

/** Closes the connection with a FIN, not a reset, once everything written is sent. */
export function endConnection({ req }: ServerResponse): void {
  if (req.complete) {
    req.socket.destroySoon();
    return;
  }
  closeWith(req.socket);
  req.once('end', () => req.socket.destroySoon()).resume();
}
