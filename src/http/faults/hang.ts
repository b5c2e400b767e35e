import type { ServerResponse } from 'node:http';
import { inTurn } from './broken-connection.ts';
import type { DrawnOut } from './drawn-out.ts';

/** The longest wait, in milliseconds. */
const LONGEST = 5 * 60 * 1_000;

/** Sends nothing until the client leaves. */
export function hang(response: ServerResponse, drawnOut: DrawnOut): void {
  inTurn(response, (socket) => {
    const end = (): void => {
      socket.destroy();
    };
    const timer = setTimeout(end, LONGEST);
    response.once('close', () => clearTimeout(timer));
    drawnOut.add(response, end);
  });
}
