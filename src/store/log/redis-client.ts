// The only module that imports the client of Redis. The build bundles it into a file of its own, which
// is loaded only for `--shared`.

import { setTimeout as delay } from 'node:timers/promises';
import { createClient, ErrorReply } from '@redis/client';
import type { RedisAddress } from './redis-address.ts';

/** One connection. */
export interface RedisClient {
  /** Rejects with an ErrorReply if Redis refuses the command. Shares round trips with other commands. */
  readonly sendCommand: (args: readonly string[]) => Promise<unknown>;
  readonly destroy: () => void;
  /** Resolves with the reason when the connection is lost. */
  readonly lost: Promise<Error>;
}

/** Whether Redis refused a command. */
export function isRefusal(error: unknown): error is Error {
  return error instanceof ErrorReply;
}

/**
 * Connects and logs in. Never reconnects.
 *
 * @param silence after so many milliseconds without a reply, Redis counts as unreachable
 */
export async function openClient(address: RedisAddress, silence: number): Promise<RedisClient> {
  const { tls, host, port, database, username, password } = address;
  const socket = { host, port, connectTimeout: silence, reconnectStrategy: false } as const;
  const client = createClient({
    socket: tls ? { ...socket, tls, servername: host } : socket,
    database,
    disableOfflineQueue: true,
    disableClientInfo: true,
    maintNotifications: 'disabled',
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
  });
  let lose: (reason: Error) => void = () => {};
  const lost = new Promise<Error>((resolve) => {
    lose = resolve;
  });
  client.on('error', (error: Error) => lose(error));
  const destroy = (): void => {
    client.destroy();
    lose(new Error(`no reply within ${silence} ms`));
  };
  const silent = new AbortController();
  try {
    await Promise.race([
      client.connect(),
      delay(silence, undefined, { signal: silent.signal }).then(() => {
        throw new Error(`no reply within ${silence} ms`);
      }),
    ]);
  } catch (error) {
    destroy();
    throw error;
  } finally {
    silent.abort();
  }
  return { sendCommand: (args) => client.sendCommand(args), destroy, lost };
}
