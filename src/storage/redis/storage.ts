import { setTimeout as sleep } from 'node:timers/promises';
import { Totals } from '../../sandbox/coverage.ts';
import { type Exchange, isHeld } from '../../sandbox/exchange.ts';
import { initialState, type OpenUpstream, type State } from '../../sandbox/state.ts';
import {
  Emitter,
  type OpenedSandbox,
  type SandboxEvent,
  type SandboxListener,
  type Storage,
  type Update,
} from '../../sandbox/storage.ts';
import { changedParts, restorePart, writeExchange } from './parts.ts';
import type { RedisConnection } from './redis-connection.ts';
import { RedisJournal } from './redis-journal.ts';
import { READ_STATE, sandboxKeys, UPDATE } from './scripts.ts';

/** What the sandboxes of a fleet share. */
export interface FleetContext {
  readonly redis: RedisConnection;
  /** What tokens begin with: random, and another one once Redis has lost everything. */
  readonly id: string;
  readonly capacity: number;
  readonly maxHold: number;
  readonly openUpstream: OpenUpstream;
  /** Enters a sandbox in the directory before it is created; without a name, looks for a loss of data. */
  readonly enter: (name: string) => Promise<void>;
  /** Keeps totals that were cleared. */
  readonly keepPast: (totals: readonly string[]) => Promise<void>;
}

/** Updates that share a script call. */
const MAX_BATCH = 100;

/** How long a server that lost a race can write alone. Else one far from Redis would lose for good. */
const TURN_MS = 500;

interface WaitingUpdate {
  readonly run: (state: State) => Update;
  /** Resolves with what `run` returned last. */
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** What updates come to that share a script call. */
interface Batch {
  /** What to call once Redis has taken it, for each update. */
  readonly settle: (() => void)[];
  after: State;
  readonly exchanges: Exchange[];
  clears?: Update['clears'];
  edits: boolean;
}

/** A sandbox whose state is in Redis. A server caches the state, and asks each time if it is current. */
export class RedisStorage implements Storage {
  readonly isShared = true;
  readonly isDurable = false;
  readonly journal: RedisJournal;
  state: State;
  readonly #sandbox: OpenedSandbox;
  readonly #context: FleetContext;
  /** Distinguishes this server from all others. */
  readonly #server = crypto.randomUUID();
  readonly #keys: readonly string[];
  readonly #channel: string;
  readonly #events = new Emitter<SandboxEvent>();
  /** The token of the latest write to Redis that this server knows; empty if it knows no sandbox. */
  #version = '';
  /** The tokens of parts that were written since the sandbox was created. */
  readonly #tokens = new Map<string, string>();
  readonly #waiting: WaitingUpdate[] = [];
  #isRunning = false;

  constructor(sandbox: OpenedSandbox, context: FleetContext) {
    const { redis, maxHold } = context;
    this.#sandbox = sandbox;
    this.#context = context;
    this.state = sandbox.initial;
    this.#keys = Object.values(sandboxKeys(sandbox.name));
    this.#channel = redis.channelName(sandbox.name);
    this.journal = new RedisJournal(sandbox.name, redis, maxHold, this.#events);
  }

  update<U extends Update>(run: (state: State) => U): Promise<U> {
    return new Promise((resolve, reject) => {
      let result: U;
      this.#waiting.push({
        run: (state) => {
          result = run(state);
          return result;
        },
        resolve: () => resolve(result),
        reject,
      });
      if (!this.#isRunning) void this.#runAll();
    });
  }

  /** Creates the sandbox. False if there is one. */
  async create(): Promise<boolean> {
    const nothing = { settle: [], after: this.state, exchanges: [], edits: false };
    if ((await this.#ask(nothing)) !== 'gone') return false;
    await this.#context.enter(this.#sandbox.name);
    return (await this.#ask(nothing, true)) === 'kept';
  }

  /** The script tells of exchanges, edits and deletions. */
  async publish(event: SandboxEvent): Promise<void> {
    let message: string;
    if (event.kind === 'hold') {
      message = `hold ${event.exchange.number} ${writeExchange(event.exchange)}`;
    } else if (event.kind === 'release') message = `release ${JSON.stringify(event)}`;
    else return;
    await this.journal.followed;
    const published = this.#context.redis.run(['PUBLISH', this.#channel, message], 'reads');
    await (event.kind === 'hold' ? published.catch(() => {}) : published);
  }

  subscribe(listener: SandboxListener): () => void {
    const cancel = this.#events.add(listener);
    void this.journal.follow();
    return () => {
      cancel();
      if (this.#events.isEmpty) this.journal.unfollow();
    };
  }

  async #runAll(): Promise<void> {
    this.#isRunning = true;
    while (this.#waiting.length > 0) {
      let batch = this.#runWaiting();
      try {
        let creates = false;
        for (;;) {
          // A release must not come before somebody listens.
          if (batch.exchanges.some(isHeld)) await this.journal.follow();
          const outcome = await this.#ask(batch, creates);
          if (outcome === 'kept') break;
          if (outcome === 'busy') await sleep(1 + 3 * Math.random());
          else if (outcome === 'changed') await this.#refresh();
          else if (this.#version !== '') this.#forget();
          else if (this.#sandbox.mayCreate && isWrite(batch, this.state)) {
            await this.#context.enter(this.#sandbox.name);
            creates = true;
          } else break; // One that does not exist and is not to be created answers like a new one.
          batch = this.#runWaiting();
        }
        this.#waiting.splice(0, batch.settle.length);
        for (const settle of batch.settle) settle();
      } catch (error) {
        for (const { reject } of this.#waiting.splice(0, batch.settle.length)) reject(error);
      }
    }
    this.#isRunning = false;
  }

  /** Runs what waits, one after the other. */
  #runWaiting(): Batch {
    const batch: Batch = { settle: [], after: this.state, exchanges: [], edits: false };
    for (const { run, resolve, reject } of this.#waiting.slice(0, MAX_BATCH)) {
      try {
        const { state, exchange, edit, clears } = run(batch.after);
        // What it clears comes before it.
        if (clears !== undefined && batch.settle.length > 0) break;
        batch.clears ??= clears;
        batch.after = state;
        if (exchange !== undefined) batch.exchanges.push(exchange);
        batch.edits ||= edit !== undefined;
        batch.settle.push(resolve);
      } catch (error) {
        // It counts only if the state is current.
        batch.settle.push(() => reject(error));
      }
    }
    return batch;
  }

  /** Has Redis take what a batch comes to, if this server knows the present state. */
  async #ask(batch: Batch, creates = false): Promise<unknown> {
    const { redis, capacity, id } = this.#context;
    const { name, initial } = this.#sandbox;
    const { after, exchanges, clears, edits } = batch;
    // Settings and clock depend on when the sandbox began, so a new one has them in any case.
    const { settings, clock } = initial;
    const nothing = { ...initial, settings: { ...settings }, clock: { ...clock } };
    const isKnown = this.#version !== '';
    const parts = isKnown || creates ? changedParts(isKnown ? this.state : nothing, after) : [];
    const writes = creates || isWrite(batch, this.state);
    const token = id + crypto.randomUUID();
    // Redis knows the number of the exchange before them.
    const totals = new Totals();
    for (const [index, exchange] of exchanges.entries()) {
      totals.add({ ...exchange, number: index + 1 }, name);
    }
    const ask = {
      version: this.#version,
      token,
      creates,
      writes,
      clears,
      edits,
      server: this.#server,
      turn: TURN_MS,
      capacity,
      channel: this.#channel,
      parts: parts.map(([part]) => part),
      held: exchanges.flatMap((exchange, index) => (isHeld(exchange) ? [index + 1] : [])),
      totals,
    };
    const texts = [...parts.map(([, text]) => text), ...exchanges.map(writeExchange)];
    const args = [JSON.stringify(ask), ...texts];
    const reply = await redis.eval(UPDATE, writes ? 'writes' : 'reads', this.#keys, args);
    const [outcome, number, cleared]: readonly unknown[] = Array.isArray(reply) ? reply : [];
    if (outcome !== 'kept') return outcome;
    this.state = after;
    if (parts.length > 0) this.#version = token;
    for (const [part] of parts) this.#tokens.set(part, token);
    for (const [index, exchange] of exchanges.entries()) {
      exchange.number = Number(number) + index + 1;
    }
    if (Array.isArray(cleared) && cleared.length > 0) await this.#context.keepPast(cleared);
    return outcome;
  }

  /** Reads the parts that other servers have written. */
  async #refresh(): Promise<void> {
    const { redis, openUpstream } = this.#context;
    const { start } = this.#sandbox;
    const known = JSON.stringify(Object.fromEntries(this.#tokens));
    const reply = await redis.eval(READ_STATE, 'reads', this.#keys.slice(0, 1), [known]);
    const [version = '', isLost, ...parts] = Array.isArray(reply) ? reply.map(String) : [];
    // It was written before Redis lost everything, or since.
    if (version !== '' && !version.startsWith(this.#context.id)) await this.#context.enter('');
    if (isLost === '1') this.#forget();
    for (let at = 0; at < parts.length; at += 3) {
      const [part = '', token = '', text = ''] = parts.slice(at, at + 3);
      this.state = await restorePart(this.state, [part, text], { start, openUpstream });
      this.#tokens.set(part, token);
    }
    this.#version = version;
  }

  #forget(): void {
    const { start, initial } = this.#sandbox;
    this.state = initialState(start, initial.settings.upstream, Date.now());
    this.#version = '';
    this.#tokens.clear();
  }
}

function isWrite({ after, exchanges, clears, edits }: Batch, before: State): boolean {
  return after !== before || exchanges.length > 0 || clears !== undefined || edits;
}
