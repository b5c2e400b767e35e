import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { inTurn } from './broken-connection.ts';

/** What a reset overtakes is lost: so long may earlier replies travel first, in milliseconds. */
const HEAD_START = 25;

/** A TCP reset, with nothing sent and whatever the client still sends unread. */
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
    socket.resetAndDestroy();
  } catch {
    // An app of someone else's may listen on what is not TCP and knows no reset.
    socket.destroy();
  }
}
