import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { closeWith } from '../connections.ts';

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
  closeWith(socket, '');
  req.once('end', () => socket.destroySoon()).resume();
}
