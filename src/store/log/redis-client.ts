// The only module that imports the client of Redis. The build bundles it into a file of its own, which
// is loaded only for `--shared`.

import { once } from 'node:events';
import { connect, isIP } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { createClient, createCluster, ErrorReply } from '@redis/client';
import { describe } from '../../words.ts';
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
 * Connects and logs in: to one Redis, or to all nodes of its cluster. Never reconnects.
 *
 * @param silence milliseconds without a reply after which Redis counts as unreachable
 */
export async function openClient(address: RedisAddress, silence: number): Promise<RedisClient> {
  const { database, ...options } = optionsFor(address, silence);
  const client = createClient({ ...options, database });
  const single = await opened(client, silence, (args) => client.sendCommand(args));
  const { mode, role } = Object(await single.sendCommand(HELLO));
  if (mode !== 'cluster' && role !== 'replica') return single;
  single.destroy();
  if (mode !== 'cluster') throw new Error('it is a replica, which takes no changes');
  const { host, port, ...defaults } = options.socket;
  const cluster = createCluster({
    rootNodes: [{ socket: { ...defaults, host, port } }],
    defaults: { ...options, socket: defaults },
  });
  return opened(cluster, silence, (args) =>
    cluster.sendCommand(args[KEY_AT[args[0] ?? ''] ?? 1], false, [...args]),
  );
}

/** How Redis answers, also to a client that has not logged in. */
const REDIS_REPLY = /^(?:\+PONG|-[A-Z]+ )/;

/** A server that does not speak as Redis does. */
interface Stranger {
  readonly reason: string;
  /** Whether it is certain: a proxy of a Redis that is starting closes connections, too. */
  readonly certain: boolean;
}

/** Looks for a stranger at an address. With TLS, the errors of TLS say what is wrong. */
export async function strangerAt(
  { tls, host, port }: RedisAddress,
  silence: number,
): Promise<Stranger | undefined> {
  if (tls) return undefined;
  const socket = connect({ host, port }).setTimeout(silence);
  socket.on('timeout', () => socket.destroy(new Error('silent')));
  try {
    await once(socket, 'connect');
    socket.write('PING\r\n');
    for await (const bytes of socket) {
      const reply = String(bytes).split(/[\r\n]/)[0] ?? '';
      if (REDIS_REPLY.test(reply)) return undefined;
      return { reason: `what answers there is no Redis: ${describe(reply)}`, certain: true };
    }
    const reason = 'the connection is closed there: it is no Redis, or expects TLS (rediss://)';
    return { reason, certain: false };
  } catch {
    return undefined;
  } finally {
    socket.destroy();
  }
}

/** Asks a Redis what it is. Every user may. */
export const HELLO = ['HELLO', '3'] as const;

/** Where the first key is in a command, unless it is the second word. */
const KEY_AT: Readonly<Record<string, number>> = { EVAL: 3, EVALSHA: 3 };

function optionsFor(
  { tls, host, port, database, username, password }: RedisAddress,
  silence: number,
) {
  const socket = { host, port, connectTimeout: silence, reconnectStrategy: false } as const;
  const name = isIP(host) === 0 ? { servername: host } : {};
  return {
    socket: tls ? { ...socket, ...name, tls } : socket,
    database,
    disableOfflineQueue: true,
    disableClientInfo: true,
    maintNotifications: 'disabled',
    ...(username !== '' && { username }),
    ...(password !== '' && { password }),
  } as const;
}

/** The common part of the clients of a single Redis and of a cluster. */
interface Connecting {
  readonly connect: () => Promise<unknown>;
  readonly destroy: () => void;
  readonly on: (event: 'error' | 'node-error', listener: (error: Error) => void) => unknown;
}

async function opened(
  client: Connecting,
  silence: number,
  sendCommand: RedisClient['sendCommand'],
): Promise<RedisClient> {
  let lose: (reason: Error) => void = () => {};
  const lost = new Promise<Error>((resolve) => {
    lose = resolve;
  });
  client.on('error', (error) => lose(error));
  // Until its cluster has replaced a lost node, some sandboxes are out of reach.
  client.on('node-error', (error) => lose(error));
  const silent = new Error(`no reply within ${silence} ms`);
  const destroy = (): void => {
    client.destroy();
    lose(silent);
  };
  const connected = new AbortController();
  const { signal } = connected;
  const tooLate = delay(silence, undefined, { signal }).then(() => Promise.reject(silent));
  try {
    await Promise.race([client.connect(), tooLate]);
  } catch (error) {
    destroy();
    throw error;
  } finally {
    tooLate.catch(() => {});
    connected.abort();
  }
  return { sendCommand, destroy, lost };
}
