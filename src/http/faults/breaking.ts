import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { closeWith } from '../connections.ts';

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

/**
 * Calls `act` with the connection once all earlier replies on it are sent; never if the client
 * disconnects first.
 */
export function inTurn(response: ServerResponse, act: (socket: Socket) => void): void {
  const unlessGone = (socket: Socket): void => {
    if (!socket.destroyed) act(socket);
  };
  if (response.socket !== null) {
    unlessGone(response.socket);
    return;
  }
  // Node emits this while it is still handing the socket over.
  response.once('socket', (socket: Socket) => process.nextTick(unlessGone, socket));
}

/** Closes the connection with a FIN, not a reset, once everything written is sent. */
export function endConnection({ req }: ServerResponse, socket: Socket): void {
  if (req.complete) {
    socket.destroySoon();
    return;
  }
  closeWith(socket);
  req.once('end', () => socket.destroySoon()).resume();
}
