// The only module that imports the client of Redis. The build bundles it into a file of its own, which
// is loaded only for `--shared`.

import type { EventEmitter } from 'node:events';
import { isIP } from 'node:net';
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
export function describeFailure(error: unknown): {
  readonly reason: string;
  readonly isFinal: boolean;
} {
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

/** How often a connection is checked: a peer that was paused or cut off keeps it open. */
const PING_INTERVAL_MS = 500;

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
    // Commands are not queued while there is no connection. A timer for each costs a tenth of a request.
    commandOptions: { timeout: 0 },
    ...(username !== '' && { username }),
    ...(password !== '' && { password }),
  } as const;
  const client = createClient({ ...options, socket: { ...socket, host, port }, database });
  const single = await connect(client, timeout, (args) => client.sendCommand(args));
  // Every user may ask a Redis what it is.
  const { version, mode, role } = Object(await single.sendCommand(['HELLO', '3']));
  const isOld = Number.parseFloat(version) < MIN_VERSION;
  if (!isOld && mode !== 'cluster' && role !== 'replica') return single;
  single.destroy();
  if (isOld) throw new ErrorReply(`expected Redis ${MIN_VERSION} or later, found ${version}`);
  if (mode !== 'cluster') throw new Error('it is a replica, which accepts no writes');
  const rootNodes = [{ socket: { ...socket, host, port } }];
  const cluster = createCluster({ rootNodes, defaults: { ...options, socket } });
  return connect(cluster, timeout, (args) => {
    const key = args[0]?.startsWith('EVAL') ? args[3] : args[1];
    return cluster.sendCommand(key, false, [...args]);
  });
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
  const inTime = (reply: Promise<unknown>): Promise<unknown> => {
    const timer = setTimeout(destroy, timeout);
    return reply.finally(() => clearTimeout(timer));
  };
  const failed = lost.then((error) => Promise.reject(error));
  await inTime(Promise.race([client.connect(), failed])).catch((error) => {
    destroy();
    throw error;
  });
  const check = (): void => {
    inTime(sendCommand(['PING'])).then(waitToCheck, (error) => isRefusal(error) && waitToCheck());
  };
  const waitToCheck = (): void => void setTimeout(check, PING_INTERVAL_MS).unref();
  waitToCheck();
  return {
    sendCommand,
    subscribe: (channel, onMessage) => client.subscribe(channel, onMessage),
    unsubscribe: (channel, onMessage) => client.unsubscribe(channel, onMessage),
    destroy,
    lost,
  };
}
