import type { ServerResponse } from 'node:http';
import { endConnection, inTurn } from './broken-connection.ts';
import { hasContent, type Written, writeHead } from './written-reply.ts';

/**
 * Half the body that `Content-Length` promises, then the connection closes. For an empty body the
 * promise is one byte. A reply without content, to HEAD or with 204, is cut in its head.
 */
export function truncate(response: ServerResponse, written: Written): void {
  inTurn(response, (socket) => {
    if (hasContent(response, written)) {
      const bytes = Buffer.from(written.body);
      writeHead(response, written, Math.max(bytes.length, 1));
      response.flushHeaders();
      // Past the response, which would take the reply for complete and let the next one follow.
      socket.write(bytes.subarray(0, bytes.length >> 1));
    } else {
      // Within the status: some clients take the head for complete after it.
      socket.write(`HTTP/1.1 ${String(written.status).slice(0, 1)}`);
    }
    endConnection(response, socket);
  });
}
