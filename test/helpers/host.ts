import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * A way to write 127.0.0.1 that the server does not count as loopback: it requires its control
 * token, although no other machine can reach it.
 */
export const TOKEN_HOST = '127.1';

/** A port of loopback that was free a moment ago. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}
