import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** How long a client that is still sending may take to finish, in milliseconds. */
const LINGER = 1_000;

/**
 * Does something with the connection once the replies to earlier requests on it are out. Nothing is
 * done where the client leaves before.
 */
export function inTurn(response: ServerResponse, act: (socket: Socket) => void): void {
  const unlessGone = (socket: Socket): void => {
    if (!socket.destroyed) act(socket);
  };
  if (response.socket !== null) {
    unlessGone(response.socket);
    return;
  }
  // Node gives a response the socket when its turn comes, and says so when it has half done so.
  response.once('socket', (socket: Socket) => process.nextTick(unlessGone, socket));
}

/** Closes the connection when all that was written is out: with a FIN, not a reset. */
export function endConnection({ req }: ServerResponse, socket: Socket): void {
  if (req.complete) {
    socket.destroySoon();
    return;
  }
  // Closing on bytes that nobody read would make the system send a reset.
  socket.end();
  const timer = setTimeout(() => socket.destroy(), LINGER);
  socket.once('close', () => clearTimeout(timer));
  req.once('end', () => socket.destroySoon()).resume();
}
