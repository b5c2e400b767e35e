import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Milliseconds that a client has to read its last reply, or to send the rest of its request. */
const LINGER = 1_000;

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

/** Ends a response whose content is written, for the same reason once its request is read. */
export function endAfterRequest(response: ServerResponse): void {
  const { req } = response;
  const { 'content-length': length, 'transfer-encoding': coding } = req.headers;
  // Without a body a request is complete, but Node says so only later.
  if (req.complete || (length === undefined && coding === undefined)) {
    response.end();
    return;
  }
  const end = (): void => void response.end();
  setTimeout(end, LINGER).unref();
  req.once('end', end).once('close', end).resume();
}
