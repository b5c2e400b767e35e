// The only module that imports the client of Redis. The build bundles it into a file of its own, which
// is loaded only for `--shared`.

import type { EventEmitter } from 'node:events';
import { isIP } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { createClient, createCluster, ErrorReply } from '@redis/client';
import type { RedisAddress } from './address.ts';

/** One connection. */
export interface RedisClient {
  /** Rejects with an ErrorReply if Redis refuses the command. Shares round trips with other commands. */
  readonly sendCommand: (args: readonly string[]) => Promise<unknown>;
  readonly destroy: () => void;
  /** Resolves with the reason when the connection is lost. */
  readonly lost: Promise<Error>;
}

export function isRefusal(error: unknown): error is Error {
  return error instanceof ErrorReply;
}

/** Why a connection failed, and whether trying again cannot help. */
export function failureOf(error: unknown): { readonly reason: string; readonly isFinal: boolean } {
  const reason = error instanceof Error && error.message !== '' ? error.message : String(error);
  if (reason.startsWith('Unknown RESP type')) {
    return { reason: `the server there is not Redis: ${reason}`, isFinal: true };
  }
  const isClosed = reason === 'Socket closed unexpectedly';
  const hint = isClosed ? ': not Redis, or it expects TLS (rediss://)' : '';
  return { reason: reason + hint, isFinal: isRefusal(error) };
}

/** The first version with exclusive ranges in `XRANGE`. */
const OLDEST = 6.2;

/**
 * Connects and logs in: to one Redis, or to all nodes of its cluster. Never reconnects.
 *
 * @param silence milliseconds without a reply after which Redis counts as unreachable
 */
export async function openClient(address: RedisAddress, silence: number): Promise<RedisClient> {
  const { tls, host, port, username, password, database } = address;
  const shared = { connectTimeout: silence, reconnectStrategy: false } as const;
  const secure = { tls: true, ...(isIP(host) === 0 && { servername: host }) } as const;
  const socket = tls ? { ...shared, ...secure } : shared;
  const options = {
    disableOfflineQueue: true,
    disableClientInfo: true,
    maintNotifications: 'disabled',
    ...(username !== '' && { username }),
    ...(password !== '' && { password }),
  } as const;
  const client = createClient({ ...options, socket: { ...socket, host, port }, database });
  const single = await connect(client, silence, (args) => client.sendCommand(args));
  // Every user may ask a Redis what it is.
  const { version, mode, role } = Object(await single.sendCommand(['HELLO', '3']));
  const isOld = Number.parseFloat(version) < OLDEST;
  if (!isOld && mode !== 'cluster' && role !== 'replica') return single;
  single.destroy();
  if (isOld) throw new ErrorReply(`expected Redis ${OLDEST} or later, found ${version}`);
  if (mode !== 'cluster') throw new Error('it is a replica, which accepts no writes');
  const rootNodes = [{ socket: { ...socket, host, port } }];
  const cluster = createCluster({ rootNodes, defaults: { ...options, socket } });
  return connect(cluster, silence, (args) => {
    const key = args[0]?.startsWith('EVAL') ? args[3] : args[1];
    return cluster.sendCommand(key, false, [...args]);
  });
}

/** A client of a single Redis or of a cluster. */
interface ConnectableClient extends EventEmitter {
  readonly connect: () => Promise<unknown>;
  readonly destroy: () => void;
}

async function connect(
  client: ConnectableClient,
  silence: number,
  sendCommand: RedisClient['sendCommand'],
): Promise<RedisClient> {
  const lost = new Promise<Error>((resolve) => {
    client.on('error', resolve);
    // Until its cluster has replaced a lost node, some sandboxes are out of reach.
    client.on('node-error', resolve);
  });
  const destroy = (): void => {
    client.destroy();
    client.emit('error', new Error(`no reply within ${silence} ms`));
  };
  const connection = { sendCommand, destroy, lost };
  const timer = setTimeout(destroy, silence);
  try {
    await Promise.race([client.connect(), lost.then((error) => Promise.reject(error))]);
  } catch (error) {
    destroy();
    throw error;
  } finally {
    clearTimeout(timer);
  }
  void probe(connection, silence);
  return connection;
}

/** Destroys a client whose peer was paused or cut off: it keeps its connection open. */
async function probe({ sendCommand, destroy }: RedisClient, silence: number): Promise<void> {
  for (;;) {
    const timer = setTimeout(destroy, silence);
    try {
      await sendCommand(['PING']);
    } catch (error) {
      if (!isRefusal(error)) return;
    } finally {
      clearTimeout(timer);
    }
    await delay(silence / 4, undefined, { ref: false });
  }
}
