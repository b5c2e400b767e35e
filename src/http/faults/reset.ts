import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { carrierOf } from '../tls/secure.ts';
import { inTurn } from './breaking.ts';

/** Milliseconds between the last reply and the reset, which could overtake it. */
const HEAD_START = 25;

/** A TCP reset. Sends nothing, and ignores what the client still sends. */
export function reset(response: ServerResponse): void {
  const waits = response.socket === null;
  inTurn(response, (socket) => {
    if (!waits) {
      resetConnection(socket);
      return;
    }
    const timer = setTimeout(() => resetConnection(socket), HEAD_START);
    response.once('close', () => clearTimeout(timer));
  });
}

function resetConnection(socket: Socket): void {
  try {
    carrierOf(socket).resetAndDestroy();
  } catch {
    // An embedding app may listen on something other than TCP, which has no reset.
    socket.destroy();
  }
}
