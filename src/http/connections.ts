import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { clearTimeout, setTimeout } from 'node:timers';
import { warn } from '../node-errors.ts';
import { mayHaveContent } from '../service/reply.ts';

/** For a client to read its last reply, or to send the rest of its request. */
export const LINGER_TIMEOUT_MS = 1_000;

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

/** Calls `act` once the replies to earlier requests of the connection are sent. */
export function onTurn(response: ServerResponse, act: () => void): void {
  if (response.socket !== null) act();
  else {
    response.once('socket', (socket: Socket) => {
      try {
        act();
      } catch (error) {
        warn(error);
        socket.destroy();
      }
    });
  }
}

/** Replaces a response whose head failed, of which Node keeps a part: sends text, and closes. */
export function replaceWith(response: ServerResponse, text: string): void {
  const { method, socket } = response.req;
  const head = text.slice(0, text.indexOf('\r\n\r\n') + 4);
  onTurn(response, () => closeWith(socket, method === 'HEAD' ? head : text));
}

/** The header that announces the length of a reply, unless its status forbids it (RFC 9110, section 8.6). */
export function framingHeaders(status: number, length: number): string[] {
  return mayHaveContent(status) ? ['Content-Length', String(length)] : [];
}

/** Whether the reply comes with content (RFC 9110, section 6.4.1). */
export function hasContent(response: ServerResponse, status: number): boolean {
  return response.req.method !== 'HEAD' && mayHaveContent(status);
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
    // A response queued behind others gets no event when its client disconnects, and a socket
    // listener for each of them would be too many.
    const { socket } = response.req;
    const end = (): void => {
      clearTimeout(timer);
      this.#endings.delete(end);
      if (!socket.destroyed) act();
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
