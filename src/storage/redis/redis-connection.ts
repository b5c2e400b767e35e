import { createHash } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { StorageError } from '../../sandbox/storage.ts';
import type { RedisAddress } from './address.ts';
import { failureOf, isRefusal, openClient, type RedisClient } from './client.ts';

/** How long a command waits for a Redis that does not answer, in milliseconds. */
const PATIENCE = 5000;

/** Milliseconds without a reply after which the connection counts as lost. */
const SILENCE = 2000;

/** Pauses between attempts to connect, in milliseconds; the last one repeats. */
const PAUSES = [0, 50, 100, 200, 400];

/** Replies of a Redis that is starting or failing over: the command was not run, and may be soon. */
const PASSING = /^(?:LOADING|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|BUSY|READONLY)\b/;

/** The hashes of scripts. */
const HASHES = new Map<string, string>();

/** One connection to Redis, made again whenever it is lost. All commands share it. */
export class RedisConnection {
  readonly address: RedisAddress;
  /** How often a connection was lost. Each time, commands may have run twice. */
  losses = 0;
  #client: RedisClient | undefined;
  #isClosed = false;
  #problem = 'not connected yet';
  #downSince = performance.now();
  /** Emits `news` when there is a connection, or no hope of one. */
  readonly #events = new EventEmitter().setMaxListeners(0);

  constructor(address: RedisAddress) {
    this.address = address;
    void this.#stayConnected();
  }

  /** Why Redis cannot be reached; undefined while it can. */
  get problem(): string | undefined {
    return this.#client === undefined ? this.#unreachable(false).message : undefined;
  }

  /**
   * Runs a command. Repeats it on a new connection if the old one is lost, so it must be safe to
   * repeat.
   *
   * @param script what an EVALSHA runs, in case Redis does not know it yet
   * @throws StorageError if Redis refuses it, or cannot be reached for some seconds
   */
  async run(args: readonly string[], script?: string): Promise<unknown> {
    // Commands that come long after Redis was lost do not wait for it again.
    const until = (this.#client === undefined ? this.#downSince : performance.now()) + PATIENCE;
    let command = args;
    for (let isOutcomeUnknown = false; ; ) {
      const client = this.#client ?? (await this.#connected(until));
      if (client === undefined) throw this.#unreachable(isOutcomeUnknown);
      try {
        return await client.sendCommand(command);
      } catch (error) {
        const isLate = performance.now() > until;
        if (!isRefusal(error)) {
          isOutcomeUnknown = true;
          if (isLate) throw this.#unreachable(isOutcomeUnknown);
        } else if (script !== undefined && error.message.startsWith('NOSCRIPT')) {
          command = ['EVAL', script, ...args.slice(2)];
        } else {
          const { message } = error;
          if (isLate || !PASSING.test(message))
            throw this.#error(`answers ${message}`, isOutcomeUnknown);
          // After a failover, the address leads to another one.
          if (message.startsWith('READONLY')) client.destroy();
          await delay(PAUSES.at(-1));
        }
      }
    }
  }

  /** Runs a script, as `run` does. Redis knows it by its hash. */
  eval(script: string, keys: readonly string[], args: readonly string[] = []): Promise<unknown> {
    const hash = HASHES.get(script) ?? createHash('sha1').update(script).digest('hex');
    HASHES.set(script, hash);
    return this.run(['EVALSHA', hash, String(keys.length), ...keys, ...args], script);
  }

  close(): void {
    this.#isClosed = true;
    this.#client?.destroy();
    this.#client = undefined;
    this.#events.emit('news');
  }

  /** Waits for a connection; undefined if there is none in time. */
  async #connected(until: number): Promise<RedisClient | undefined> {
    const left = Math.ceil(until - performance.now());
    if (left > 0 && !this.#isClosed) {
      await once(this.#events, 'news', { signal: AbortSignal.timeout(left) }).catch(() => {});
    }
    return this.#client;
  }

  async #stayConnected(): Promise<void> {
    for (let failures = 0; !this.#isClosed; failures += 1) {
      await delay(PAUSES[failures] ?? PAUSES.at(-1));
      try {
        const client = await openClient(this.address, SILENCE);
        if (this.#isClosed) return client.destroy();
        this.#client = client;
        failures = 0;
        this.#events.emit('news');
        this.#problem = (await client.lost).message;
        this.losses += 1;
        this.#downSince = performance.now();
      } catch (error) {
        const { reason, isFinal } = failureOf(error);
        this.#problem = reason;
        if (isFinal) this.#events.emit('news');
      }
      this.#client = undefined;
    }
  }

  #unreachable(isOutcomeUnknown: boolean): StorageError {
    return this.#error(`cannot be reached (${this.#problem})`, isOutcomeUnknown);
  }

  #error(problem: string, isOutcomeUnknown: boolean): StorageError {
    const unknown = isOutcomeUnknown ? '; it is not known whether it has the change' : '';
    return new StorageError(`${this.address.shown} ${problem}${unknown}`, { isOutcomeUnknown });
  }
}
