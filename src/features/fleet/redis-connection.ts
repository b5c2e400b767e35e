import { EventEmitter, once } from 'node:events';
import { setTimeout as delay, setImmediate } from 'node:timers/promises';
import { StorageError } from '../../core/sandbox/storage-error.ts';
import type { RedisAddress } from './address.ts';
import {
  describeFailure,
  isRefusal,
  isUnsent,
  type OnMessage,
  openClient,
  type RedisClient,
  type RedisClock,
} from './client.ts';
import type { Script } from './scripts.ts';

/** How long a call waits for Redis. */
const CALL_TIMEOUT_MS = 5000;

/** How long Redis may be silent. A large collection that arrives slowly is silence, too. */
const REPLY_TIMEOUT_MS = 3000;

/** The pause before the next attempt to connect, or to run a command that Redis refused for now. */
const RETRY_AFTER_MS = 100;

/** Replies of a Redis that is starting or failing over: the command was not run, and may be soon. */
const RETRYABLE = /^(?:LOADING|MASTERDOWN|BUSY|READONLY)\b|-READONLY\b/;

export interface Channel {
  readonly name: string;
  readonly onMessage: OnMessage;
  /** Called once the channel is followed, and again whenever messages may have been missed. */
  readonly onReady: () => void;
}

interface RunOptions {
  /** What an EVALSHA runs, in case Redis does not know it yet. */
  readonly script?: Script;
  /** Whether to run it twice would be wrong: nobody knows if it was run when its connection breaks. */
  readonly once?: boolean;
  readonly until?: number;
}

/** One connection to Redis, made again whenever it is lost. All commands and channels share it. */
export class RedisConnection {
  readonly address: RedisAddress;
  /** Called whenever there is a connection again. */
  onConnected: () => void = () => {};
  readonly #onNotice: ((message: string) => void) | undefined;
  readonly #channels = new Set<Channel>();
  #client: RedisClient | undefined;
  /** The latest one that was known. */
  #clock: RedisClock = { roundTrip: 0, ahead: 0 };
  #isClosed = false;
  #problem = 'not connected yet';
  #downSince = performance.now();
  /** Emits `news` when there is a connection, or no hope of one. */
  readonly #events = new EventEmitter().setMaxListeners(0);

  constructor(address: RedisAddress, onNotice?: (message: string) => void) {
    this.address = address;
    this.#onNotice = onNotice;
    void this.#stayConnected();
  }

  get problem(): string | undefined {
    return this.#client === undefined ? this.#unreachable().message : undefined;
  }

  get roundTrip(): number {
    return this.#clock.roundTrip;
  }

  /** When a call that begins now has failed. */
  get deadline(): number {
    // Calls that come long after Redis was lost do not wait for it again.
    return (this.#client === undefined ? this.#downSince : performance.now()) + CALL_TIMEOUT_MS;
  }

  /** By the clock of Redis, not later. */
  timeOf(deadline: number): number {
    return Math.floor(deadline + this.#clock.ahead);
  }

  async run(args: readonly string[], options: RunOptions = {}): Promise<unknown> {
    const { script, once: runsOnce = false, until = this.deadline } = options;
    let command = args;
    let isSent = false;
    for (;;) {
      const client = this.#client ?? (await this.#connected(until));
      if (client === undefined) {
        const { message } = this.#unreachable();
        throw new StorageError(message, { isOutcomeUnknown: isSent });
      }
      try {
        return await client.sendCommand(command);
      } catch (error) {
        if (!isRefusal(error)) {
          isSent ||= !isUnsent(error);
          if (isSent && runsOnce) {
            const { reason } = describeFailure(error);
            const why = `lost the connection to ${this.address.shown} (${reason})`;
            throw new StorageError(why, { isOutcomeUnknown: true });
          }
          await setImmediate();
          continue;
        }
        if (script !== undefined && error.message.startsWith('NOSCRIPT')) {
          command = ['EVAL', script.text, ...args.slice(2)];
          continue;
        }
        const message = error.message.replace(/\.? script: .*$/s, '');
        if (performance.now() > until || !RETRYABLE.test(message)) {
          throw new StorageError(`${this.address.shown} answers ${message}`);
        }
        // After a failover, the address leads to another one.
        if (message.includes('READONLY')) {
          client.destroy('it became a replica (READONLY): waiting for the new primary');
        }
        await delay(RETRY_AFTER_MS);
      }
    }
  }

  eval(
    script: Script,
    keys: readonly string[],
    args: readonly string[] = [],
    options: RunOptions = {},
  ): Promise<unknown> {
    const command = ['EVALSHA', script.hash, String(keys.length), ...keys, ...args];
    return this.run(command, { ...options, script });
  }

  async list(key: string): Promise<readonly string[]> {
    const reply = await this.run(['LRANGE', key, '0', '-1']);
    return Array.isArray(reply) ? reply.map(String) : [];
  }

  follow(channel: Channel): Promise<void> {
    this.#channels.add(channel);
    return this.#subscribe(channel);
  }

  unfollow(channel: Channel): void {
    this.#channels.delete(channel);
    this.#client?.unsubscribe(channel.name, channel.onMessage).catch(() => {});
  }

  close(): void {
    this.#isClosed = true;
    this.#client?.destroy('closed');
    this.#client = undefined;
    this.#events.emit('news');
  }

  async #subscribe(channel: Channel): Promise<void> {
    try {
      if (this.#client === undefined) return;
      await this.#client.subscribe(channel.name, channel.onMessage);
      channel.onReady();
    } catch {}
  }

  async #connected(until: number): Promise<RedisClient | undefined> {
    const left = Math.ceil(until - performance.now());
    if (left > 0 && !this.#isClosed) {
      await once(this.#events, 'news', { signal: AbortSignal.timeout(left) }).catch(() => {});
    }
    return this.#client;
  }

  async #stayConnected(): Promise<void> {
    let isFirst = true;
    while (!this.#isClosed) {
      try {
        const client = await openClient(this.address, REPLY_TIMEOUT_MS);
        if (this.#isClosed) return client.destroy('closed');
        this.#client = client;
        this.#clock = client.clock;
        if (!isFirst) this.#onNotice?.(`${this.address.shown} can be reached again`);
        isFirst = false;
        this.#events.emit('news');
        for (const channel of this.#channels) void this.#subscribe(channel);
        this.onConnected();
        this.#problem = (await client.lost).message;
        this.#downSince = performance.now();
        if (!this.#isClosed) this.#onNotice?.(this.#unreachable().message);
      } catch (error) {
        const { reason, isFinal } = describeFailure(error);
        this.#problem = reason;
        if (isFinal) this.#events.emit('news');
      }
      this.#client = undefined;
      await delay(RETRY_AFTER_MS);
    }
  }

  #unreachable(): StorageError {
    return new StorageError(`${this.address.shown} cannot be reached (${this.#problem})`);
  }
}
