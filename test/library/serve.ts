import { once } from 'node:events';
import type { Server } from 'node:http';
import { listen } from '../helpers/host.ts';

/** Has a server listen on loopback until it is disposed of. */
export async function serve(server: Server): Promise<AsyncDisposable & { readonly url: string }> {
  return {
    url: `http://127.0.0.1:${await listen(server)}`,
    [Symbol.asyncDispose]: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
