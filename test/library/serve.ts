import { once } from 'node:events';
import type { Server } from 'node:http';

/** Has a server listen on loopback until it is disposed of. */
export async function serve(server: Server): Promise<AsyncDisposable & { readonly url: string }> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The server has no port.');
  return {
    url: `http://127.0.0.1:${address.port}`,
    [Symbol.asyncDispose]: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
