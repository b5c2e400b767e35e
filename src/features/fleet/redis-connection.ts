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
} from './client.ts';
import type { Script } from './scripts.ts';

const RECONNECT_TIMEOUT_MS = 5000;

/** How long Redis may be silent. A large collection that arrives slowly is silence, too. */
const REPLY_TIMEOUT_MS = 3000;

/** The pause before the next attempt to connect, or to run a command that Redis refused for now. */
const RETRY_AFTER_MS = 100;

/** Replies of a Redis that is starting or failing over: the command was not run, and may be soon. */
const RETRYABLE = /^(?:LOADING|MASTERDOWN|BUSY|READONLY)\b|-READONLY\b/;

/** Whether a command can be repeated if its connection breaks, so that nobody knows whether it was run. */
export type Effect = 'reads' | 'writes';

export interface Channel {
  readonly name: string;
  readonly onMessage: OnMessage;
  /** Called once the channel is followed, and again whenever messages may have been missed. */
  readonly onReady: () => void;
}

/** One connection to Redis, made again whenever it is lost. All commands and channels share it. */
export class RedisConnection {
  readonly address: RedisAddress;
  readonly #onNotice: ((message: string) => void) | undefined;
  readonly #channels = new Set<Channel>();
  #client: RedisClient | undefined;
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

  /** The channel of a sandbox. Pub/sub knows no databases. */
  channelName(name: string): string {
    return `petstore-mock:${this.address.database}:${name}`;
  }

  /** @param script what an EVALSHA runs, in case Redis does not know it yet */
  async run(args: readonly string[], effect: Effect, script?: Script): Promise<unknown> {
    // Commands that come long after Redis was lost do not wait for it again.
    const until =
      (this.#client === undefined ? this.#downSince : performance.now()) + RECONNECT_TIMEOUT_MS;
    let command = args;
    for (;;) {
      const client = this.#client ?? (await this.#connected(until));
      if (client === undefined) throw this.#unreachable();
      try {
        return await client.sendCommand(command);
      } catch (error) {
        if (!isRefusal(error)) {
          const canRepeat = effect === 'reads' || isUnsent(error);
          if (canRepeat && performance.now() < until) {
            await setImmediate();
            continue;
          }
          const { reason } = describeFailure(error);
          const why = `lost the connection to ${this.address.shown} (${reason})`;
          throw new StorageError(why, { isOutcomeUnknown: !canRepeat });
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
        if (message.includes('READONLY')) client.destroy();
        await delay(RETRY_AFTER_MS);
      }
    }
  }

  eval(
    script: Script,
    effect: Effect,
    keys: readonly string[],
    args: readonly string[] = [],
  ): Promise<unknown> {
    return this.run(
      ['EVALSHA', script.hash, String(keys.length), ...keys, ...args],
      effect,
      script,
    );
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
    this.#client?.destroy();
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
        if (this.#isClosed) return client.destroy();
        this.#client = client;
        if (!isFirst) this.#onNotice?.(`${this.address.shown} can be reached again`);
        isFirst = false;
        this.#events.emit('news');
        for (const channel of this.#channels) void this.#subscribe(channel);
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
