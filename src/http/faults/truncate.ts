import type { ServerResponse } from 'node:http';
import { endConnection, inTurn } from './broken-connection.ts';
import { hasContent, type Written, writeHead } from './written-reply.ts';

/**
 * Sends half the body that `Content-Length` announces, then closes the connection. An empty body is
 * announced as one byte. A reply without content, to HEAD or with 204, is cut in its head.
 */
export function truncate(response: ServerResponse, written: Written): void {
  inTurn(response, (socket) => {
    if (hasContent(response, written)) {
      const bytes = Buffer.from(written.body);
      writeHead(response, written, Math.max(bytes.length, 1));
      response.flushHeaders();
      // Bypasses the response, which would consider the reply complete and send the next one.
      socket.write(bytes.subarray(0, bytes.length >> 1));
    } else {
      // Cut within the status: some clients consider the head complete after it.
      socket.write(`HTTP/1.1 ${String(written.status).slice(0, 1)}`);
    }
    endConnection(response, socket);
  });
}
