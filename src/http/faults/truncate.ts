import type { ServerResponse } from 'node:http';
import { endConnection, inTurn } from './broken-connection.ts';
import { hasContent, writeHead } from './content.ts';
import type { Written } from './written.ts';

/**
 * Half the body that `Content-Length` promises, then the connection is closed. An empty body is
 * promised to be one byte. A reply that has no content at all, to HEAD or with 204, is cut where it
 * can be: in its head.
 */
export function truncate(response: ServerResponse, written: Written): void {
  inTurn(response, (socket) => {
    if (hasContent(response, written)) {
      const bytes = Buffer.from(written.body);
      writeHead(response, written, Math.max(bytes.length, 1));
      response.flushHeaders();
      // Not through the response, which would believe the reply whole and let the next one follow.
      socket.write(bytes.subarray(0, bytes.length >> 1));
    } else {
      // Within the status: some clients take the head for whole from there on.
      socket.write(`HTTP/1.1 ${String(written.status).slice(0, 1)}`);
    }
    endConnection(response, socket);
  });
}
