import { setTimeout as delay } from 'node:timers/promises';
import { LogError } from './change-log.ts';
import type { RedisAddress } from './redis-address.ts';
import { isRefusal, openClient, type RedisClient, strangerAt } from './redis-client.ts';
import type { RedisScript } from './redis-scripts.ts';

/** How long a command waits for a Redis that does not answer, in milliseconds. */
const PATIENCE = 5000;

/** Milliseconds without a reply after which the connection counts as lost. */
const SILENCE = 2000;

/** Pauses between attempts to connect, in milliseconds; the last one repeats. */
const PAUSES = [0, 50, 100, 200, 400];

/** Replies of a Redis that is starting or failing over: the command was not run, and may be soon. */
const PASSING = /^(?:LOADING|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|BUSY|READONLY)\b/;

/** One connection to Redis, made again whenever it is lost. All commands share it. */
export class RedisConnection {
  readonly address: RedisAddress;
  #client: RedisClient | undefined;
  #closed = false;
  #problem = 'not connected yet';
  #downSince = performance.now();
  #waiting = new Set<() => void>();
  #unanswered = 0;
  #losses = 0;
  #heardAt = 0;
  readonly #watch: NodeJS.Timeout;

  constructor(address: RedisAddress) {
    this.address = address;
    this.#watch = setInterval(() => this.#listen(), SILENCE / 4);
    void this.#stayConnected();
  }

  /** Why Redis cannot be reached; undefined while it can. */
  get problem(): string | undefined {
    return this.#client === undefined ? this.#unreachable(false).message : undefined;
  }

  /** How often a connection was lost. Each time, commands may have run twice. */
  get losses(): number {
    return this.#losses;
  }

  /**
   * Runs a command. Repeats it on a new connection if the old one is lost, so it must be safe to
   * repeat.
   *
   * @throws LogError if Redis refuses it, or cannot be reached for some seconds
   */
  run(...args: readonly string[]): Promise<unknown> {
    return this.#run(args, false);
  }

  /** @param done whether it may have run before */
  async #run(args: readonly string[], done: boolean): Promise<unknown> {
    const until = this.#patienceEnds();
    for (let maybeDone = done; ; ) {
      const client = this.#client ?? (await this.#connected(until));
      if (client === undefined) throw this.#unreachable(maybeDone);
      try {
        return await this.#send(client, args);
      } catch (error) {
        const isLate = performance.now() > until;
        if (isRefusal(error)) {
          if (isLate || !PASSING.test(error.message)) throw this.#refused(error, maybeDone);
          // After a failover, the address leads to another one.
          if (error.message.startsWith('READONLY')) client.destroy();
          await delay(PAUSES.at(-1));
        } else {
          maybeDone = true;
          if (isLate) throw this.#unreachable(maybeDone);
        }
      }
    }
  }

  /** Runs a script, as `run` does. */
  async eval(
    { text, sha1 }: RedisScript,
    keys: readonly string[],
    args: readonly string[],
  ): Promise<unknown> {
    const rest = [String(keys.length), ...keys, ...args];
    try {
      return await this.run('EVALSHA', sha1, ...rest);
    } catch (error) {
      if (!(error instanceof LogError && error.message.includes('NOSCRIPT'))) throw error;
      return await this.#run(['EVAL', text, ...rest], error.maybeDone);
    }
  }

  close(): void {
    this.#closed = true;
    clearInterval(this.#watch);
    this.#client?.destroy();
    this.#client = undefined;
    this.#wake();
  }

  async #send(client: RedisClient, args: readonly string[]): Promise<unknown> {
    if (this.#unanswered === 0) this.#heardAt = performance.now();
    this.#unanswered += 1;
    try {
      return await client.sendCommand(args);
    } finally {
      this.#unanswered -= 1;
      this.#heardAt = performance.now();
    }
  }

  /** A peer that was paused or cut off keeps its connection open, so it is probed at intervals. */
  #listen(): void {
    const client = this.#client;
    if (client === undefined) return;
    if (this.#unanswered === 0) this.#send(client, ['PING']).catch(() => {});
    else if (performance.now() - this.#heardAt > SILENCE) client.destroy();
  }

  /** Commands that come long after Redis was lost do not wait for it again. */
  #patienceEnds(): number {
    return (this.#client === undefined ? this.#downSince : performance.now()) + PATIENCE;
  }

  /** Waits for a connection; undefined if there is none in time. */
  async #connected(until: number): Promise<RedisClient | undefined> {
    const left = until - performance.now();
    if (left > 0 && !this.#closed) {
      await new Promise<void>((resolve) => {
        const done = () => {
          clearTimeout(timer);
          this.#waiting.delete(done);
          resolve();
        };
        const timer = setTimeout(done, left);
        this.#waiting.add(done);
      });
    }
    return this.#client;
  }

  #wake(): void {
    for (const resume of this.#waiting) resume();
  }

  async #stayConnected(): Promise<void> {
    let met = false;
    for (let failures = 0; !this.#closed; failures += 1) {
      await delay(PAUSES[failures] ?? PAUSES.at(-1), undefined, { ref: false });
      try {
        const client = await openClient(this.address, SILENCE);
        if (this.#closed) return client.destroy();
        this.#client = client;
        met = true;
        failures = 0;
        this.#wake();
        this.#problem = reasonOf(await client.lost);
        this.#losses += 1;
      } catch (error) {
        this.#problem = reasonOf(error);
        const stranger = met ? undefined : await strangerAt(this.address, SILENCE);
        this.#problem = stranger?.reason ?? this.#problem;
        // Retrying does not fix a wrong password.
        if (isRefusal(error) || stranger?.certain === true) this.#wake();
      }
      if (this.#client !== undefined) this.#downSince = performance.now();
      this.#client = undefined;
    }
  }

  #unreachable(maybeDone: boolean): LogError {
    return this.#error(`cannot be reached (${this.#problem})`, maybeDone);
  }

  #refused({ message }: Error, maybeDone: boolean): LogError {
    return this.#error(`answers ${message}`, maybeDone);
  }

  #error(problem: string, maybeDone: boolean): LogError {
    const unknown = maybeDone ? '; it is not known whether it has the change' : '';
    return new LogError(`${this.address.shown} ${problem}${unknown}`, { maybeDone });
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error && error.message !== '' ? error.message : String(error);
}
