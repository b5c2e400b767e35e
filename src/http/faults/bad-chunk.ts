import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { endConnection, hasContent, inTurn, type WireReply } from './breaking.ts';
import { truncate } from './truncate.ts';

const BAD_SIZE = 'xyz';

/**
 * Sends a chunked body whose second chunk size is not a number, then closes the connection. A reply
 * that cannot have chunks, to HTTP/1.0 or without content, is truncated instead.
 */
export function badChunk(response: ServerResponse, reply: WireReply): void {
  if (response.req.httpVersion === '1.0' || !hasContent(response, reply)) {
    truncate(response, reply);
    return;
  }
  inTurn(response, (socket) => {
    const bytes = Buffer.from(reply.body);
    const half = bytes.length >> 1;
    response.writeHead(reply.status, [...reply.headers, 'Transfer-Encoding', 'chunked']);
    response.flushHeaders();
    // Bypasses Node, which writes every chunk correctly.
    if (half > 0) writeChunk(socket, half.toString(16), bytes.subarray(0, half));
    writeChunk(socket, BAD_SIZE, bytes.subarray(half));
    endConnection(response, socket);
  });
}

function writeChunk(socket: Socket, size: string, content: Buffer): void {
  socket.write(Buffer.concat([Buffer.from(`${size}\r\n`), content, Buffer.from('\r\n')]));
}
