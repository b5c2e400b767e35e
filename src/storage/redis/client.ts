// The only module that imports the client of Redis. The build bundles it into a file of its own, which
// is loaded only for `--shared`.

import type { EventEmitter } from 'node:events';
import { isIP } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import {
  ClientClosedError,
  ClientOfflineError,
  createClient,
  createCluster,
  ErrorReply,
} from '@redis/client';
import type { RedisAddress } from './address.ts';

/** Called with each message of a channel. */
export type OnMessage = (message: string | Buffer) => void;

/** One connection. */
export interface RedisClient {
  /** Rejects with an ErrorReply if Redis refuses the command. Shares round trips with other commands. */
  readonly sendCommand: (args: readonly string[]) => Promise<unknown>;
  readonly subscribe: (channel: string, onMessage: OnMessage) => Promise<unknown>;
  readonly unsubscribe: (channel: string, onMessage: OnMessage) => Promise<unknown>;
  readonly destroy: () => void;
  /** Resolves with the reason when the connection is lost. */
  readonly lost: Promise<Error>;
}

export function isRefusal(error: unknown): error is Error {
  return error instanceof ErrorReply;
}

/** Whether a command failed before it was sent. */
export function isUnsent(error: unknown): boolean {
  return error instanceof ClientOfflineError || error instanceof ClientClosedError;
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

/** The first version that the scripts were tested with. */
const MIN_VERSION = 6.2;

/** After so many checks without a reply, a connection is given up although Redis is there. */
const MAX_CHECKS = 20;

/**
 * Connects and logs in: to one Redis, or to all nodes of its cluster. Never reconnects: whoever uses it
 * opens another one, which also helps against a silent peer, a failover and a node that was replaced.
 *
 * @param timeout milliseconds without a reply after which Redis counts as unreachable
 */
export async function openClient(address: RedisAddress, timeout: number): Promise<RedisClient> {
  const { tls, host, port, username, password, database } = address;
  const shared = { connectTimeout: timeout, reconnectStrategy: false } as const;
  const secure = { tls: true, ...(isIP(host) === 0 && { servername: host }) } as const;
  const socket = tls ? { ...shared, ...secure } : shared;
  const options = {
    disableOfflineQueue: true,
    disableClientInfo: true,
    maintNotifications: 'disabled',
    ...(username !== '' && { username }),
    ...(password !== '' && { password }),
  } as const;
  const open = async (): Promise<RedisClient> => {
    const client = createClient({ ...options, socket: { ...socket, host, port }, database });
    return connect(client, timeout, (args) => client.sendCommand(args));
  };
  const isThere = async (): Promise<boolean> => {
    const other = await open().catch(() => undefined);
    other?.destroy();
    return other !== undefined;
  };
  const single = await open();
  // Every user may ask a Redis what it is.
  const { version, mode, role } = Object(await single.sendCommand(['HELLO', '3']));
  const isOld = Number.parseFloat(version) < MIN_VERSION;
  if (!isOld && mode !== 'cluster' && role !== 'replica') return probe(single, timeout, isThere);
  single.destroy();
  if (isOld) throw new ErrorReply(`expected Redis ${MIN_VERSION} or later, found ${version}`);
  if (mode !== 'cluster') throw new Error('it is a replica, which accepts no writes');
  const rootNodes = [{ socket: { ...socket, host, port } }];
  const cluster = createCluster({ rootNodes, defaults: { ...options, socket } });
  const connected = await connect(cluster, timeout, (args) => {
    const key = args[0]?.startsWith('EVAL') ? args[3] : args[1];
    return cluster.sendCommand(key, false, [...args]);
  });
  return probe(connected, timeout, isThere);
}

/** A client of a single Redis or of a cluster. */
interface ConnectableClient extends EventEmitter, Pick<RedisClient, 'subscribe' | 'unsubscribe'> {
  readonly connect: () => Promise<unknown>;
  readonly destroy: () => void;
}

async function connect(
  client: ConnectableClient,
  timeout: number,
  sendCommand: RedisClient['sendCommand'],
): Promise<RedisClient> {
  const lost = new Promise<Error>((resolve) => {
    client.on('error', resolve);
    // Until its cluster has replaced a lost node, some sandboxes are out of reach.
    client.on('node-error', resolve);
  });
  const destroy = (): void => {
    client.destroy();
    client.emit('error', new Error(`no reply within ${timeout} ms`));
  };
  const timer = setTimeout(destroy, timeout);
  try {
    await Promise.race([client.connect(), lost.then((error) => Promise.reject(error))]);
  } catch (error) {
    destroy();
    throw error;
  } finally {
    clearTimeout(timer);
  }
  return {
    sendCommand,
    subscribe: (channel, onMessage) => client.subscribe(channel, onMessage),
    unsubscribe: (channel, onMessage) => client.unsubscribe(channel, onMessage),
    destroy,
    lost,
  };
}

/**
 * Destroys a client whose peer was paused or cut off, which keeps its connection open; but not one that
 * is only slow to receive a long reply, if new connections are answered.
 */
function probe(client: RedisClient, timeout: number, isThere: () => Promise<boolean>): RedisClient {
  const check = async (): Promise<void> => {
    let checks = 0;
    const timer = setInterval(async () => {
      checks += 1;
      const asked = checks;
      const isSlow = checks <= MAX_CHECKS && (await isThere());
      if (!isSlow && checks >= asked) client.destroy();
    }, timeout);
    try {
      await client.sendCommand(['PING']);
    } finally {
      clearInterval(timer);
      checks = -1;
    }
  };
  const checkAll = async (): Promise<void> => {
    for (;;) {
      try {
        await check();
      } catch (error) {
        if (!isRefusal(error)) return;
      }
      await delay(timeout / 4, undefined, { ref: false });
    }
  };
  void checkAll();
  return client;
}
