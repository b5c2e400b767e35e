import type { ServerResponse } from 'node:http';
import { endConnection, hasContent, type WireReply } from './breaking.ts';
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
  const bytes = Buffer.from(reply.body);
  const half = bytes.length >> 1;
  response.writeHead(reply.status, [...reply.headers, 'Transfer-Encoding', 'chunked']);
  response.flushHeaders();
  // Bypasses Node, which writes every chunk correctly.
  const { socket } = response.req;
  if (half > 0) socket.write(chunkOf(half.toString(16), bytes.subarray(0, half)));
  socket.write(chunkOf(BAD_SIZE, bytes.subarray(half)));
  endConnection(response);
}

function chunkOf(size: string, content: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${size}\r\n`), content, Buffer.from('\r\n')]);
}
