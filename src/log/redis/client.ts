// The only module that imports the client of Redis. The build bundles it into a file of its own, which
// is loaded only for `--shared`.

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

/** Whether Redis refused a command. */
export function isRefusal(error: unknown): error is Error {
  return error instanceof ErrorReply;
}

/** Why a connection failed, and whether trying again cannot help. */
export function failureOf(error: unknown): { readonly reason: string; readonly isFinal: boolean } {
  const reason = error instanceof Error && error.message !== '' ? error.message : String(error);
  const isStranger = reason.startsWith('Unknown RESP type');
  if (isStranger) return { reason: `what answers there is no Redis: ${reason}`, isFinal: true };
  const isClosed = reason === 'Socket closed unexpectedly';
  const hint = isClosed ? ': it is no Redis, or expects TLS (rediss://)' : '';
  return { reason: `${reason}${hint}`, isFinal: isRefusal(error) };
}

/** The first version with exclusive ranges in `XRANGE`. */
const OLDEST = 6.2;

/** Where the first key is in a command, unless it is the second word. */
const KEY_AT: Readonly<Record<string, number>> = { EVAL: 3, EVALSHA: 3 };

/**
 * Connects and logs in: to one Redis, or to all nodes of its cluster. Never reconnects.
 *
 * @param silence milliseconds without a reply after which Redis counts as unreachable
 */
export async function openClient(address: RedisAddress, silence: number): Promise<RedisClient> {
  const { database, ...options } = optionsFor(address, silence);
  const client = createClient({ ...options, database });
  const single = await opened(client, silence, (args) => client.sendCommand(args));
  // Every user may ask a Redis what it is.
  const { version, mode, role } = Object(await single.sendCommand(['HELLO', '3']));
  const isOld = Number.parseFloat(version) < OLDEST;
  if (!isOld && mode !== 'cluster' && role !== 'replica') return single;
  single.destroy();
  if (isOld) throw new ErrorReply(`expected Redis ${OLDEST} or later, found ${version}`);
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
  readonly emit: (event: 'error', error: Error) => unknown;
}

async function opened(
  client: Connecting,
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
