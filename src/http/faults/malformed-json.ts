import type { ServerResponse } from 'node:http';
import { hasContent, type WireReply, writeHead } from './breaking.ts';

/**
 * No text that ends like this is JSON: outside a string a colon needs a value, and inside one the
 * string is never closed.
 */
const TAIL = ':}';

/** A complete body that is not JSON. A status without a body, such as 204, stays as it is. */
export function malformedJson(response: ServerResponse, reply: WireReply): void {
  const text = reply.body.toString();
  const spoilt = Buffer.from(text.slice(0, text.length >> 1) + TAIL);
  writeHead(response, reply, spoilt.length);
  if (hasContent(response, reply)) response.end(spoilt);
  else response.end();
}
