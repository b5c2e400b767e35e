// Only this file imports the client of Redis, which the build bundles apart for `--shared`.

import { EventEmitter, once } from 'node:events';
import { isIP } from 'node:net';
import { clearTimeout, setTimeout } from 'node:timers';
import { setTimeout as delay, setImmediate } from 'node:timers/promises';
import {
  ClientClosedError,
  ClientOfflineError,
  createClient,
  ErrorReply,
  SocketTimeoutError,
} from '@redis/client';
import { StorageError } from '../../core/sandbox/storage-error.ts';
import { steadyNow } from '../../core/service/clock.ts';
import type { RedisAddress } from './options.ts';
import type { Script } from './scripts.ts';

/** The oldest version with which the scripts are tested. */
const MIN_VERSION = 6.2;

/** How long a call waits for Redis. */
const CALL_TIMEOUT_MS = 5000;

/** How long Redis may be silent, even within a large reply. */
const REPLY_TIMEOUT_MS = 3000;

/** How often the connection is checked, since a paused or unplugged peer does not close it. */
const CHECK_INTERVAL_MS = 500;

/** The pause before connecting again, or repeating a command that Redis refused for now. */
const RETRY_AFTER_MS = 100;

/** Errors of a Redis that is starting or failing over: the command did not run, so repeat it. */
const RETRYABLE = /^(?:LOADING|MASTERDOWN|BUSY|READONLY)\b|-READONLY\b/;

const NO_REPLY = `no reply within ${REPLY_TIMEOUT_MS} ms`;

const REPLICA = 'it is a replica, which accepts no writes (READONLY)';

export interface Channel {
  readonly name: string;
  readonly onMessage: (message: string | Buffer) => void;
  /** Called after each subscription, hence whenever messages may have been missed. */
  readonly onReady: () => void;
}

interface RunOptions {
  /** The Lua source for an EVALSHA, in case Redis does not have the script yet. */
  readonly script?: Script;
  /** Whether it must not run twice. If the connection breaks, it is unknown whether it ran. */
  readonly once?: boolean;
  readonly until?: number;
}

/** The only connection, for all commands and channels. It is restored whenever it breaks. */
export class RedisConnection {
  readonly address: RedisAddress;
  /** The prefix of all keys. */
  readonly prefix: string;
  /** Called when the connection is made, and every half second while it lasts. */
  onChecked: () => void = () => {};
  /** How long the latest check of the connection took, in milliseconds. */
  roundTrip = 0;
  readonly #client: ReturnType<typeof openClient>;
  readonly #onNotice: (message: string) => void;
  readonly #channels = new Set<Channel>();
  /** Emits `news` when Redis becomes usable, or will never be. */
  readonly #events = new EventEmitter().setMaxListeners(0);
  /** The least difference by which the clock of Redis is ahead of `steadyNow`, in milliseconds. */
  #ahead = 0;
  /** Why Redis is unusable; undefined while it can be used. */
  #failure: string | undefined = 'not connected yet';
  #downSince = steadyNow();
  #isFirst = true;
  #isClosed = false;

  constructor(address: RedisAddress, prefix: string, onNotice?: (message: string) => void) {
    this.address = address;
    this.prefix = prefix;
    this.#onNotice = onNotice ?? (() => {});
    this.#client = openClient(address)
      .on('error', (error) => this.#lose(error))
      .on('ready', () => void this.#check());
    this.#connect();
  }

  get problem(): string | undefined {
    return this.#failure && `${this.address.shown} cannot be reached (${this.#failure})`;
  }

  /** When a call that begins now gives up. */
  get deadline(): number {
    // If Redis has been away for long, calls fail at once instead of waiting again.
    return (this.#failure === undefined ? steadyNow() : this.#downSince) + CALL_TIMEOUT_MS;
  }

  /** A deadline on the clock of Redis, or a little before. */
  timeOf(deadline: number): number {
    return Math.floor(deadline + this.#ahead);
  }

  async run(args: readonly string[], options: RunOptions = {}): Promise<unknown> {
    const { script, once: runsOnce = false, until = this.deadline } = options;
    let command = args;
    let isOutcomeUnknown = false;
    for (;;) {
      if (this.problem !== undefined) await this.#wait(until);
      if (this.problem !== undefined) throw new StorageError(this.problem, { isOutcomeUnknown });
      try {
        return await this.#client.sendCommand(command);
      } catch (error) {
        if (!(error instanceof ErrorReply)) {
          const isUnsent =
            error instanceof ClientOfflineError || error instanceof ClientClosedError;
          isOutcomeUnknown ||= !isUnsent;
          if (isOutcomeUnknown && runsOnce) {
            const why = `lost the connection to ${this.address.shown} (${describeFailure(error)})`;
            throw new StorageError(why, { isOutcomeUnknown });
          }
          await setImmediate();
        } else if (script !== undefined && error.message.startsWith('NOSCRIPT')) {
          command = ['EVAL', script.text, ...args.slice(2)];
        } else {
          const message = error.message.replace(/\.? script: .*$/s, '');
          if (steadyNow() > until || !RETRYABLE.test(message)) {
            throw new StorageError(`${this.address.shown} answers ${message}`);
          }
          // After a failover, connecting anew reaches the new primary.
          if (message.includes('READONLY')) this.#reconnect(new Error(REPLICA));
          await delay(RETRY_AFTER_MS);
        }
      }
    }
  }

  eval(script: Script, args: readonly string[], options: RunOptions = {}): Promise<unknown> {
    const command = ['EVALSHA', script.hash, '1', this.prefix, ...args];
    return this.run(command, { ...options, script });
  }

  async follow(channel: Channel): Promise<void> {
    this.#channels.add(channel);
    if (this.#failure !== undefined) return;
    try {
      await this.#client.subscribe(channel.name, channel.onMessage);
      channel.onReady();
    } catch {}
  }

  unfollow(channel: Channel): void {
    this.#channels.delete(channel);
    this.#client.unsubscribe(channel.name, channel.onMessage).catch(() => {});
  }

  close(): void {
    this.#isClosed = true;
    this.#reconnect(new Error('closed'));
  }

  async #wait(until: number): Promise<void> {
    const left = Math.ceil(until - steadyNow());
    if (left <= 0 || this.#isClosed) return;
    await once(this.#events, 'news', { signal: AbortSignal.timeout(left) }).catch(() => {});
  }

  #connect(): void {
    this.#client.connect().catch(() => {});
  }

  #reconnect(error: unknown): void {
    this.#lose(error);
    // A client that is not ready is connecting already.
    if (!this.#client.isReady && !this.#isClosed) return;
    this.#client.destroy();
    if (!this.#isClosed) this.#connect();
  }

  #lose(error: unknown): void {
    const wasUsable = this.#failure === undefined;
    this.#failure = describeFailure(error);
    if (wasUsable) this.#downSince = steadyNow();
    if (wasUsable && !this.#isClosed) this.#onNotice(String(this.problem));
    if (this.#isClosed || isFinal(error)) this.#events.emit('news');
  }

  /** Checks the server with commands that every user may run, while the connection lasts. */
  async #check(): Promise<void> {
    const client = this.#client;
    const { socketEpoch } = client;
    const isOver = () => !client.isReady || client.socketEpoch !== socketEpoch;
    while (!isOver()) {
      // The client itself would wait for a silent peer for ever.
      const late = () => this.#reconnect(new Error(NO_REPLY));
      const timer = setTimeout(late, REPLY_TIMEOUT_MS);
      try {
        const sent = steadyNow();
        const asked = [client.sendCommand(['HELLO', '3']), client.sendCommand(['TIME'])];
        const [server, time] = await Promise.all(asked).finally(() => clearTimeout(timer));
        const received = steadyNow();
        checkServer(Object(server));
        const [seconds, microseconds] = Object(time);
        this.roundTrip = received - sent;
        // Redis read its clock before this moment, so now it shows at least this.
        this.#ahead = Number(seconds) * 1000 + Number(microseconds) / 1000 - received;
        this.#becomeUsable();
        this.onChecked();
      } catch (error) {
        if (!isOver()) this.#lose(error);
        await delay(RETRY_AFTER_MS);
        if (!isOver()) this.#reconnect(error);
      }
      await delay(CHECK_INTERVAL_MS, undefined, { ref: false });
    }
  }

  #becomeUsable(): void {
    if (this.#failure === undefined) return;
    this.#failure = undefined;
    if (!this.#isFirst) this.#onNotice(`${this.address.shown} can be reached again`);
    this.#isFirst = false;
    this.#events.emit('news');
    for (const channel of this.#channels) void this.follow(channel);
  }
}

function openClient({ tls, host, port, username, password, database }: RedisAddress) {
  const socket = {
    host,
    port,
    connectTimeout: REPLY_TIMEOUT_MS,
    // Ends a silent handshake. After that, `#check` notices silence.
    socketTimeout: REPLY_TIMEOUT_MS,
    reconnectStrategy: RETRY_AFTER_MS,
  } as const;
  const secure = { tls: true, ...(isIP(host) === 0 && { servername: host }) } as const;
  return createClient({
    socket: tls ? { ...socket, ...secure } : socket,
    database,
    ...(username !== '' && { username }),
    ...(password !== '' && { password }),
    // With its queue, the client could not tell whether a command was sent.
    disableOfflineQueue: true,
    disableClientInfo: true,
    maintNotifications: 'disabled',
    // Nothing waits in a queue. Timers for each command would cost a tenth of a request.
    commandOptions: { timeout: 0 },
  });
}

/** @throws a final error, or one to retry after for a replica, which can become the primary */
function checkServer({ version, mode, role }: Readonly<Record<string, string>>): void {
  if (Number.parseFloat(version ?? '') < MIN_VERSION) {
    throw new ErrorReply(`expected Redis ${MIN_VERSION} or later, found ${version}`);
  }
  if (mode === 'cluster') throw new ErrorReply('expected a single Redis, found a Redis Cluster');
  if (role === 'replica') throw new Error(REPLICA);
}

const NOT_REDIS = 'Unknown RESP type';

function isFinal(error: unknown): boolean {
  const isRefusal = error instanceof ErrorReply && !RETRYABLE.test(error.message);
  return isRefusal || String(error).includes(NOT_REDIS);
}

function describeFailure(error: unknown): string {
  if (error instanceof SocketTimeoutError) return NO_REPLY;
  const reason = error instanceof Error && error.message !== '' ? error.message : String(error);
  if (reason.startsWith(NOT_REDIS)) return `the server there is not Redis: ${reason}`;
  const isClosed = reason === 'Socket closed unexpectedly';
  return isClosed ? `${reason}: not Redis, or it expects TLS (rediss://)` : reason;
}
