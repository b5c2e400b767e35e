import type { ServerResponse } from 'node:http';
import { endConnection, inTurn } from './breaking.ts';

/** Closes the connection. Sends nothing. */
export function close(response: ServerResponse): void {
  inTurn(response, (socket) => endConnection(response, socket));
}
