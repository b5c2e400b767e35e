import type { ServerResponse } from 'node:http';
import type { DrawnOut } from './drawn-out.ts';

/** Calls `act` after some milliseconds, unless the client leaves first. */
export function delay(
  response: ServerResponse,
  milliseconds: number,
  act: () => void,
  drawnOut: DrawnOut,
): void {
  // A response that waits behind others does not hear that its client has left: the socket does.
  const { socket } = response.req;
  let over = false;
  const settle = (): void => {
    over = true;
    clearTimeout(timer);
    socket.off('close', settle);
  };
  const end = (): void => {
    if (over) return;
    settle();
    act();
  };
  const timer = setTimeout(end, milliseconds);
  socket.once('close', settle);
  drawnOut.add(response, end);
}
