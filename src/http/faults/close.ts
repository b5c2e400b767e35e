import type { ServerResponse } from 'node:http';
import { endConnection, inTurn } from './broken-connection.ts';

/** The connection is closed, with nothing sent. */
export function close(response: ServerResponse): void {
  inTurn(response, (socket) => endConnection(response, socket));
}
