import { setTimeout as sleep } from 'node:timers/promises';
import { PERMANENT_SANDBOXES } from '../../core/limits.ts';
import { Totals } from '../../core/sandbox/coverage.ts';
import { type Exchange, isHeld } from '../../core/sandbox/exchange.ts';
import { initialState, type OpenUpstream, type State } from '../../core/sandbox/state.ts';
import {
  createLimitError,
  Emitter,
  type OpenedSandbox,
  type SandboxEvent,
  type SandboxListener,
  type Storage,
  type Update,
} from '../../core/sandbox/storage.ts';
import { changedParts, restorePart, writeExchange } from './parts.ts';
import type { RedisConnection } from './redis-connection.ts';
import { RedisJournal } from './redis-journal.ts';
import {
  type RedisHash,
  SANDBOXES,
  START,
  sandboxKeys,
  UPDATE,
  type UpdateRequest,
  type UpdateResult,
} from './scripts.ts';

export interface FleetContext {
  readonly redis: RedisConnection;
  readonly start: string;
  /** What tokens begin with: a hash of `start`. */
  readonly id: string;
  readonly capacity: number;
  readonly maxHold: number;
  readonly maxSandboxes: number;
  readonly openUpstream: OpenUpstream;
  /** How other servers started differently, if they came first after Redis had lost everything. */
  disagreement: string | undefined;
  readonly agree: () => Promise<void>;
  readonly keepPast: (totals: RedisHash) => Promise<void>;
}

const MAX_BATCH = 100;

interface WaitingUpdate {
  readonly run: (state: State) => Update;
  /** Resolves with what `run` returned last. */
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

interface Batch {
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
  readonly #server = crypto.randomUUID();
  readonly #keys: ReturnType<typeof sandboxKeys>;
  readonly #channel: string;
  readonly #events = new Emitter<SandboxEvent>();
  /** The token of the latest write to Redis that this server knows; empty if it knows no sandbox. */
  #version = '';
  readonly #tokens = new Map<string, string>();
  readonly #waiting: WaitingUpdate[] = [];
  #isRunning = false;

  constructor(sandbox: OpenedSandbox, context: FleetContext) {
    const { redis, maxHold } = context;
    this.#sandbox = sandbox;
    this.#context = context;
    this.state = sandbox.initial;
    this.#keys = sandboxKeys(sandbox.name);
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
  create(): Promise<boolean> {
    return this.#offer({ settle: [], after: this.state, exchanges: [], edits: false }, true);
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
        while (!(await this.#offer(batch))) batch = this.#runWaiting();
        this.#waiting.splice(0, batch.settle.length);
        for (const settle of batch.settle) settle();
      } catch (error) {
        for (const { reject } of this.#waiting.splice(0, batch.settle.length)) reject(error);
      }
    }
    this.#isRunning = false;
  }

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

  /** False if the batch was made of an old state; this server knows the present one now. */
  async #offer(batch: Batch, isNew = false): Promise<boolean> {
    const { redis, maxSandboxes, agree } = this.#context;
    const { name } = this.#sandbox;
    // A release must not come before somebody listens.
    if (batch.exchanges.some(isHeld)) await this.journal.follow();
    const { request, texts } = this.#describe(batch, isNew);
    const keys = [...Object.values(this.#keys), START, SANDBOXES];
    const effect = request.writes ? 'writes' : 'reads';
    const reply = await redis.eval(UPDATE, effect, keys, [JSON.stringify(request), ...texts]);
    const result: UpdateResult = JSON.parse(String(reply));
    switch (result.kind) {
      case 'kept':
        await this.#keep(batch, request, result);
        return true;
      case 'changed':
        if (!isNew) await this.#refresh(result.version, result.tokens);
        return false;
      case 'busy':
        await sleep(1 + 3 * Math.random());
        return false;
      case 'gone':
        // One that is not to be created answers like a new one.
        if (this.#version === '') return true;
        this.#forget();
        return false;
      case 'full':
        throw createLimitError(maxSandboxes, name);
      case 'differs':
        await agree();
        return false;
    }
  }

  #describe({ after, exchanges, clears, edits }: Batch, isNew: boolean) {
    const { capacity, maxSandboxes, id, start } = this.#context;
    const { name, initial, mayCreate } = this.#sandbox;
    const isKnown = this.#version !== '';
    const writes =
      isNew || after !== this.state || exchanges.length > 0 || clears !== undefined || edits;
    const creates = !isKnown && mayCreate && writes;
    // Settings and clock depend on when the sandbox began, so a new one has them in any case.
    const before = isKnown
      ? this.state
      : { ...initial, settings: { ...initial.settings }, clock: { ...initial.clock } };
    const parts = isKnown || creates ? changedParts(before, after) : [];
    // Redis knows the number of the exchange before them.
    const totals = new Totals();
    for (const [index, exchange] of exchanges.entries()) {
      totals.add({ ...exchange, number: index + 1 }, name);
    }
    const isLimited = !PERMANENT_SANDBOXES.includes(name);
    const request: UpdateRequest = {
      version: this.#version,
      token: id + crypto.randomUUID(),
      ...(creates && { creates: { name, start, ...(isLimited && { max: maxSandboxes }) } }),
      writes,
      clears,
      edits,
      server: this.#server,
      capacity,
      channel: this.#channel,
      parts: parts.map(([part]) => part),
      held: exchanges.flatMap((exchange, index) => (isHeld(exchange) ? [index + 1] : [])),
      totals,
    };
    return { request, texts: [...parts.map(([, text]) => text), ...exchanges.map(writeExchange)] };
  }

  async #keep(
    { after, exchanges, clears }: Batch,
    { token, creates, parts }: UpdateRequest,
    { number, cleared }: Extract<UpdateResult, { kind: 'kept' }>,
  ): Promise<void> {
    // Redis creates sandboxes only of its own fleet.
    if (creates !== undefined) this.#context.disagreement = undefined;
    this.state = after;
    if (parts.length > 0) this.#version = token;
    for (const part of parts) this.#tokens.set(part, token);
    for (const [index, exchange] of exchanges.entries()) exchange.number = number + index + 1;
    if (clears === 'all') await this.#context.keepPast(cleared);
  }

  async #refresh(version: string, tokens: RedisHash): Promise<void> {
    const { redis, openUpstream, id, agree } = this.#context;
    const { start } = this.#sandbox;
    if (!version.startsWith(id)) await agree();
    // Redis has gone back to an earlier state, or the sandbox was created again.
    if ([...this.#tokens.keys()].some((part) => tokens[part] === undefined)) this.#forget();
    const changed = Object.keys(tokens).filter((part) => tokens[part] !== this.#tokens.get(part));
    const fields = changed.map((part) => `p:${part}`);
    const reply = await redis.run(['HMGET', this.#keys.state, 'version', ...fields], 'reads');
    const [present, ...texts] = Array.isArray(reply) ? reply.map(String) : [];
    // Another server has written since: Redis will say so again.
    if (present !== version) return;
    for (const [at, part] of changed.entries()) {
      const named = [part, texts[at] ?? ''] as const;
      this.state = await restorePart(this.state, named, { start, openUpstream });
      this.#tokens.set(part, tokens[part] ?? '');
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
