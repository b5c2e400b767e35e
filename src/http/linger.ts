import type { Socket } from 'node:net';

/** Milliseconds that a client has to read its last reply, or to send the rest of its request. */
export const LINGER = 1_000;

/**
 * Ends a connection, and goes on reading for a while: otherwise a reset can overtake the reply (RFC
 * 9112, section 9.6).
 */
export function closeWith(socket: Socket, text = '', linger = LINGER): void {
  if (socket.writableEnded) return;
  socket.end(text).resume();
  const timer = setTimeout(() => socket.destroy(), linger);
  socket.once('close', () => clearTimeout(timer));
}
