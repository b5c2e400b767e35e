import { setTimeout as sleep } from 'node:timers/promises';
import type { Exchange } from '../../sandbox/exchange.ts';
import { initialState, type State } from '../../sandbox/state.ts';
import {
  Emitter,
  type OpenedSandbox,
  type SandboxEvent,
  type SandboxListener,
  type Storage,
  StorageError,
  type Update,
} from '../../sandbox/storage.ts';
import type { OpenUpstream } from '../../sandbox/upstream.ts';
import { exchangeText, PARTS } from './parts.ts';
import type { RedisConnection } from './redis-connection.ts';
import { RedisJournal, tally } from './redis-journal.ts';
import { keysOf, UPDATE } from './scripts.ts';

/** What the sandboxes of a fleet share. */
export interface FleetContext {
  readonly redis: RedisConnection;
  /** What the tokens of the fleet begin with: another fleet has started otherwise. */
  readonly id: string;
  /** Distinguishes this server from all others. */
  readonly server: string;
  readonly capacity: number;
  readonly maxHold: number;
  readonly openUpstream: OpenUpstream;
  /** Enters a sandbox in the directory, before it is created. `isLost` if Redis had it. */
  readonly enter: (name: string, isLost?: boolean) => Promise<void>;
  /** Keeps a sandbox in the directory. */
  readonly keepEntered: (name: string) => void;
  /** Keeps totals that were cleared. */
  readonly keepPast: (totals: readonly string[]) => Promise<void>;
}

/** Updates that share a script call. */
const MAX_BATCH = 100;

/** Lost races after which a server asks for a turn, and the longest one. */
const MAX_LOSSES = 2;
const MAX_TURN_MS = 2000;

/** How often a sandbox that is used is put into the directory. */
const ENTER_EVERY_MS = 60_000;

type PartName = keyof typeof PARTS;
const PART_NAMES = Object.keys(PARTS).filter((name): name is PartName => name in PARTS);

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
  readonly #channel: string;
  readonly #events = new Emitter<SandboxEvent>();
  /** The token of the latest write to Redis that this server knows; empty if it knows no sandbox. */
  #version = '';
  /** Whether this server knew it, and it is gone. */
  #wasKnown = false;
  readonly #tokens = new Map<PartName, string>();
  readonly #waiting: WaitingUpdate[] = [];
  #isRunning = false;
  /** How many of those that wait share the present script call. */
  #asked = 0;
  #enteredAt = Number.NEGATIVE_INFINITY;
  #roundTrip = 0;

  constructor(sandbox: OpenedSandbox, context: FleetContext) {
    const { redis, maxHold } = context;
    this.#sandbox = sandbox;
    this.#context = context;
    this.state = sandbox.initial;
    this.#channel = redis.channelOf(sandbox.name);
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
    if ((await this.#ask(nothing)).kind !== 'gone') return false;
    await this.#context.enter(this.#sandbox.name);
    return (await this.#ask(nothing, { creates: true })).kind === 'kept';
  }

  /** The script tells of exchanges, edits and deletions. */
  async publish(event: SandboxEvent): Promise<void> {
    let message: string;
    if (event.kind === 'hold') {
      message = `hold ${event.exchange.number} ${exchangeText(event.exchange)}`;
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
      await this.#runBatch().catch((error: unknown) => {
        for (const { reject } of this.#waiting.splice(0, this.#asked)) reject(error);
      });
    }
    this.#isRunning = false;
  }

  /** Runs what waits, one after the other, until Redis has taken it. */
  async #runBatch(): Promise<void> {
    let creates = false;
    for (let losses = 0; ; losses += 1) {
      const batch = this.#runWaiting();
      this.#asked = batch.settle.length;
      // A release must not come before somebody listens.
      if (batch.exchanges.some(({ hold }) => hold !== undefined)) await this.journal.follow();
      const limit = Math.min(MAX_TURN_MS, Math.ceil(50 + 3 * this.#roundTrip));
      const turn = losses < MAX_LOSSES ? undefined : limit;
      const { kind, rest, keep } = await this.#ask(batch, { creates, turn });
      if (kind === 'busy') await sleep(1 + 3 * Math.random());
      else if (kind === 'changed') await this.#take(rest);
      else if (kind === 'gone' && this.#version !== '') this.#forget();
      else if (kind === 'gone' && this.#sandbox.mayCreate && isWrite(batch, this.state)) {
        await this.#context.enter(this.#sandbox.name, this.#wasKnown);
        this.#wasKnown = false;
        creates = true;
      } else {
        // One that does not exist and is not to be created answers like a new one.
        if (kind === 'kept') keep();
        this.#waiting.splice(0, this.#asked);
        for (const settle of batch.settle) settle();
        if (kind === 'kept' && rest.length > 1) await this.#context.keepPast(rest.slice(1));
        return;
      }
    }
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

  /** Settings and clock depend on when the sandbox began, so they are always written. */
  #isInitial(name: PartName, state: State): boolean {
    const { initial } = this.#sandbox;
    return name !== 'settings' && name !== 'clock' && PARTS[name].isSame(state, initial);
  }

  async #ask(
    batch: Batch,
    { creates = false, turn }: { creates?: boolean; turn?: number | undefined } = {},
  ) {
    const { redis, capacity, server, id } = this.#context;
    const { name } = this.#sandbox;
    const { after, exchanges, clears, edits } = batch;
    const version = this.#version;
    const parts = PART_NAMES.filter((part) =>
      version === ''
        ? creates && !this.#isInitial(part, after)
        : !PARTS[part].isSame(this.state, after),
    );
    const held = exchanges.flatMap(({ hold }, index) => (hold === undefined ? [] : [index + 1]));
    const writes = creates || isWrite(batch, this.state);
    const token = `${id}${crypto.randomUUID()}`;
    const known = Object.fromEntries(PART_NAMES.map((it) => [it, this.#tokens.get(it) ?? '']));
    const asked = { ...{ creates, turn, version, server, channel: this.#channel, capacity } };
    const made = { parts, held, token, known, clears, edits, writes };
    const texts = exchanges.map(exchangeText);
    const args = [
      JSON.stringify({ ...asked, ...made, tally: tally(name, exchanges) }),
      ...parts.map((part) => (this.#isInitial(part, after) ? '' : PARTS[part].write(after))),
      ...texts,
    ];
    const sentAt = performance.now();
    const effect = writes ? 'writes' : 'reads';
    const reply = await redis.eval(UPDATE, effect, Object.values(keysOf(name)), args);
    this.#roundTrip = performance.now() - sentAt;
    const [kind, ...rest] = Array.isArray(reply) ? reply.flat().map(String) : [];
    const keep = (): void => {
      this.state = after;
      if (parts.length > 0) this.#version = token;
      for (const part of parts) this.#tokens.set(part, token);
      for (const [index, exchange] of exchanges.entries()) {
        exchange.number = Number(rest[0]) + index + 1;
        if (exchange.hold) this.journal.heldTexts.set(exchange, texts[index] ?? '');
      }
      if (!writes || performance.now() < this.#enteredAt + ENTER_EVERY_MS) return;
      this.#enteredAt = performance.now();
      this.#context.keepEntered(name);
    };
    return { kind, rest, keep };
  }

  /** Takes over parts that other servers have written. */
  async #take([version = '', ...parts]: readonly string[]): Promise<void> {
    const { id, openUpstream } = this.#context;
    const { start, initial, name } = this.#sandbox;
    if (!version.startsWith(id)) {
      await this.#context.enter(name);
      throw new StorageError('servers with other settings have changed this sandbox');
    }
    for (let at = 0; at < parts.length; at += 3) {
      const [field, token = '', text = ''] = parts.slice(at, at + 3);
      const part = PART_NAMES.find((known) => known === field);
      if (part === undefined) throw new Error(`There is no part ${field}.`);
      this.state = await PARTS[part].restore(this.state, text, { start, initial, openUpstream });
      this.#tokens.set(part, token);
    }
    this.#version = version;
  }

  #forget(): void {
    const { start, initial } = this.#sandbox;
    this.state = initialState(start, initial.settings.upstream, Date.now());
    this.#version = '';
    this.#wasKnown = true;
    this.#enteredAt = Number.NEGATIVE_INFINITY;
    this.#tokens.clear();
  }
}

function isWrite({ after, exchanges, clears, edits }: Batch, before: State): boolean {
  return after !== before || exchanges.length > 0 || clears !== undefined || edits;
}
