import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';

/**
 * A way to write 127.0.0.1 that the server does not count as loopback: it requires its control
 * token, although no other machine can reach it.
 */
export const TOKEN_HOST = '127.1';

/** Has a server listen on loopback. Returns its port. */
export async function listen(server: Server): Promise<number> {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The server has no port.');
  return address.port;
}

/**
 * A port of loopback that is free, below those that systems give to connections: one of them could
 * take it before its server does.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(10_000, 32_768);
    const server = createServer().listen(port, '127.0.0.1');
    const isFree = await once(server, 'listening').catch(() => undefined);
    if (isFree === undefined) continue;
    server.close();
    await once(server, 'close');
    return port;
  }
}
