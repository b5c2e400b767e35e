import type { ServerResponse } from 'node:http';
import { endConnection, hasContent, type WireReply, writeHead } from './breaking.ts';

/**
 * Sends half the body that `Content-Length` announces, then closes the connection. An empty body is
 * announced as one byte. A reply without content, to HEAD or with 204, is cut in its head.
 */
export function truncate(response: ServerResponse, reply: WireReply): void {
  const { socket } = response.req;
  if (hasContent(response, reply)) {
    const bytes = Buffer.from(reply.body);
    writeHead(response, reply, Math.max(bytes.length, 1));
    response.flushHeaders();
    // Bypasses the response, which would consider the reply complete.
    socket.write(bytes.subarray(0, bytes.length >> 1));
  } else {
    // Cut within the status: some clients consider the head complete after it.
    socket.write(`HTTP/1.1 ${String(reply.status).slice(0, 1)}`);
  }
  endConnection(response);
}
