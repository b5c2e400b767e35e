// Alone imports the client of Redis: the build bundles it into a file that only `--shared` loads.

import { isIP } from 'node:net';
import { ClientClosedError, ClientOfflineError, createClient, ErrorReply } from '@redis/client';
import type { RedisAddress } from './address.ts';

export type OnMessage = (message: string | Buffer) => void;

export interface RedisClient {
  /** Rejects with an ErrorReply if Redis refuses the command. Shares round trips with other commands. */
  readonly sendCommand: (args: readonly string[]) => Promise<unknown>;
  readonly subscribe: (channel: string, onMessage: OnMessage) => Promise<unknown>;
  readonly unsubscribe: (channel: string, onMessage: OnMessage) => Promise<unknown>;
  readonly destroy: (reason: string) => void;
  /** Resolves with the reason when the connection is lost. */
  readonly lost: Promise<Error>;
  readonly clock: RedisClock;
}

/** By the latest reply that told the time. */
export interface RedisClock {
  /** In milliseconds. */
  roundTrip: number;
  /** By which Redis is ahead of `performance.now()`, or a little more than this. */
  ahead: number;
}

export function isRefusal(error: unknown): error is Error {
  return error instanceof ErrorReply;
}

export function isUnsent(error: unknown): boolean {
  return error instanceof ClientOfflineError || error instanceof ClientClosedError;
}

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
const CHECK_INTERVAL_MS = 500;

/**
 * Connects once. The client's own reconnecting cannot be forced, and its `socketTimeout` never ends a silent
 * connection while commands are written to it.
 *
 * @param timeout milliseconds that Redis may be silent
 */
export async function openClient(address: RedisAddress, timeout: number): Promise<RedisClient> {
  const { tls, host, port, username, password, database } = address;
  const socket = { host, port, connectTimeout: timeout, reconnectStrategy: false } as const;
  const secure = { tls: true, ...(isIP(host) === 0 && { servername: host }) } as const;
  const client = createClient({
    socket: tls ? { ...socket, ...secure } : socket,
    database,
    ...(username !== '' && { username }),
    ...(password !== '' && { password }),
    disableOfflineQueue: true,
    disableClientInfo: true,
    maintNotifications: 'disabled',
    // Commands are not queued while there is no connection. A timer for each costs a tenth of a request.
    commandOptions: { timeout: 0 },
  });
  const lost = new Promise<Error>((resolve) => void client.on('error', resolve));
  const destroy = (reason: string): void => {
    client.destroy();
    client.emit('error', new Error(reason));
  };
  const inTime = <T>(reply: Promise<T>): Promise<T> => {
    const timer = setTimeout(() => destroy(`no reply within ${timeout} ms`), timeout);
    return reply.finally(() => clearTimeout(timer));
  };
  const clock: RedisClock = { roundTrip: 0, ahead: 0 };
  const readClock = async (): Promise<void> => {
    const sent = performance.now();
    const [seconds, microseconds] = Object(await inTime(client.sendCommand(['TIME'])));
    const received = performance.now();
    clock.roundTrip = received - sent;
    // It was read before this moment, so Redis is at least so far by now.
    clock.ahead = Number(seconds) * 1000 + Number(microseconds) / 1000 - received;
  };
  try {
    const failed = lost.then((error) => Promise.reject(error));
    await inTime(Promise.race([client.connect(), failed]));
    // Every user may ask a Redis what it is.
    checkServer(Object(await inTime(client.sendCommand(['HELLO', '3']))));
    await readClock();
  } catch (error) {
    destroy('not connected');
    throw error;
  }
  const check = (): void =>
    void readClock().then(waitToCheck, (error) => isRefusal(error) && waitToCheck());
  const waitToCheck = (): void => void setTimeout(check, CHECK_INTERVAL_MS).unref();
  waitToCheck();
  return {
    sendCommand: (args) => client.sendCommand(args),
    subscribe: (channel, onMessage) => client.subscribe(channel, onMessage),
    unsubscribe: (channel, onMessage) => client.unsubscribe(channel, onMessage),
    destroy,
    lost,
    clock,
  };
}

/** @throws an error that is final, unless the server is a replica: it can become the primary */
function checkServer({ version, mode, role }: Readonly<Record<string, string>>): void {
  if (Number.parseFloat(version ?? '') < MIN_VERSION) {
    throw new ErrorReply(`expected Redis ${MIN_VERSION} or later, found ${version}`);
  }
  if (mode === 'cluster') throw new ErrorReply('expected a single Redis, found a Redis Cluster');
  if (role === 'replica') throw new Error('it is a replica, which accepts no writes');
}
