import { setTimeout as sleep } from 'node:timers/promises';
import type { Exchange } from '../../sandbox/exchange.ts';
import type { Edit } from '../../sandbox/journal.ts';
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
import { timeOf } from '../../service/clock.ts';
import { countChanges } from '../memory-journal.ts';
import { channelOf, type FleetContext, keysOf } from './fleet-context.ts';
import { exchangeText, PARTS } from './parts.ts';
import { RedisJournal } from './redis-journal.ts';
import { tally } from './redis-totals.ts';
import { RELEASE, UPDATE } from './scripts.ts';

/** Updates that share a script call. */
const MAX_BATCH = 100;

/** Lost races after which a server asks for a turn, and the longest one. */
const MAX_LOSSES = 2;
const MAX_TURN_MS = 2000;

/** How often a sandbox that is used is looked up in the directory. */
const ENTER_EVERY_MS = 60_000;

type PartName = keyof typeof PARTS;
const PART_NAMES = Object.keys(PARTS).filter((name): name is PartName => name in PARTS);

interface WaitingUpdate {
  readonly run: (state: State) => Update;
  /** Resolves with what `run` returned last. */
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

interface RunUpdate {
  readonly waiting: WaitingUpdate;
  readonly isWrite: boolean;
  /** What it threw. */
  readonly error: { readonly cause: unknown } | undefined;
}

/** What UPDATE is asked, besides the tally of exchanges. */
interface Ask {
  readonly creates?: boolean;
  /** The token of what it writes. */
  readonly token?: string | undefined;
  readonly parts?: readonly PartName[];
  readonly clears?: Update['clears'];
  readonly edits?: readonly (readonly [index: number, json: string])[];
  readonly uses?: boolean;
  /** For how many milliseconds it asks for a turn, if it loses. */
  readonly turn?: number | undefined;
}

/** What UPDATE returns. */
interface UpdateReply {
  readonly kind: 'gone' | 'busy' | 'changed' | 'kept';
  readonly rest: readonly string[];
}

/** A sandbox whose state is in Redis. A server caches the state, and asks each time if it is current. */
export class RedisStorage implements Storage {
  readonly isShared = true;
  readonly isDurable = false;
  readonly journal: RedisJournal;
  state: State;
  readonly #name: string;
  readonly #sandbox: OpenedSandbox;
  readonly #context: FleetContext;
  readonly #keys: ReturnType<typeof keysOf>;
  readonly #channel: string;
  readonly #events = new Emitter<SandboxEvent>();
  /** The token of the latest write to Redis that this server knows; empty if it knows no sandbox. */
  #version = '';
  /** The first version. */
  #born = '';
  /** Whether this server knew it, and it is gone. */
  #wasKnown = false;
  readonly #tokens = new Map<PartName, string>();
  #waiting: WaitingUpdate[] = [];
  #isRunning = false;
  #enteredAt = Number.NEGATIVE_INFINITY;
  #roundTrip = 0;

  constructor(sandbox: OpenedSandbox, context: FleetContext) {
    this.#name = sandbox.name;
    this.#sandbox = sandbox;
    this.#context = context;
    this.state = sandbox.initial;
    this.#keys = keysOf(sandbox.name);
    this.#channel = channelOf(sandbox.name, context.redis);
    this.journal = new RedisJournal(sandbox.name, context, this.#channel, this.#events);
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
    if ((await this.#ask({}, [])).kind !== 'gone') return false;
    await this.#context.enter(this.#name);
    return (await this.#ask(this.#changes(this.state), [])).kind === 'kept';
  }

  async publish(event: SandboxEvent): Promise<void> {
    const { redis } = this.#context;
    await this.journal.followed;
    if (event.kind === 'release') {
      const { why, exchanges = [] } = event;
      const args = [
        this.#channel,
        why,
        `release ${JSON.stringify({ why, exchanges: event.exchanges })}`,
      ];
      await redis.eval(RELEASE, 'writes', [this.#keys.held], [...args, ...exchanges.map(String)]);
    } else if (event.kind === 'hold') {
      const message = `hold ${event.exchange.number} ${exchangeText(event.exchange)}`;
      await redis.run(['PUBLISH', this.#channel, message], 'reads').catch(() => {});
    }
    // The script tells of exchanges, edits and deletions.
  }

  subscribe(listener: SandboxListener): () => void {
    const cancel = this.#events.add(listener);
    this.journal.follow();
    return () => {
      cancel();
      if (this.#events.isEmpty) this.journal.unfollow();
    };
  }

  async #runAll(): Promise<void> {
    this.#isRunning = true;
    while (this.#waiting.length > 0) {
      try {
        await this.#runBatch();
      } catch (error) {
        for (const { reject } of this.#waiting.splice(0)) reject(error);
      }
    }
    this.#isRunning = false;
  }

  /** Runs what waits, one after the other, until Redis has taken it. */
  async #runBatch(): Promise<void> {
    for (let losses = 0; ; losses += 1) {
      if (this.#version === '' && !(await this.#enter())) return this.#answerOnly();
      const { batch, after, ask, exchanges } = this.#runWaiting();
      const turn =
        losses < MAX_LOSSES ? undefined : Math.min(MAX_TURN_MS, 50 + 3 * this.#roundTrip);
      const reply = await this.#ask({ ...ask, turn }, exchanges, after).catch((error) => {
        // A read has done nothing, so it can be asked again.
        this.#waiting = this.#waiting.filter(
          (waiting) => !batch.some((it) => it.waiting === waiting && it.isWrite),
        );
        for (const { waiting, isWrite } of batch) if (isWrite) waiting.reject(error);
        if (!batch.some(({ isWrite }) => isWrite)) throw error;
      });
      if (reply === undefined) return;
      if (reply.kind === 'busy') await sleep(1 + 3 * Math.random());
      else if (reply.kind === 'gone') this.#forget();
      else if (reply.kind === 'changed') await this.#take(reply.rest);
      else {
        this.#waiting.splice(0, batch.length);
        this.#keep(after, ask, exchanges, Number(reply.rest[0]));
        for (const { waiting, error } of batch) {
          if (error === undefined) waiting.resolve();
          else waiting.reject(error.cause);
        }
        const [, ...cleared] = reply.rest;
        if (cleared.length > 0) await this.#context.keepPast(cleared);
        return;
      }
    }
  }

  /** Finds the sandbox, or prepares to create it. False if there is none, and nothing is to be kept. */
  async #enter(): Promise<boolean> {
    const reply = await this.#ask({}, []);
    if (reply.kind === 'changed') await this.#take(reply.rest);
    if (reply.kind !== 'gone') return true;
    const creates = this.#sandbox.mayCreate && this.#runWaiting().batch.some((it) => it.isWrite);
    if (!creates) return false;
    await this.#context.enter(this.#name, this.#wasKnown);
    this.#wasKnown = false;
    return true;
  }

  /** A sandbox that does not exist answers like a new one. */
  #answerOnly(): void {
    for (const { run, resolve, reject } of this.#waiting.splice(0)) {
      try {
        run(this.state);
        resolve();
      } catch (error) {
        reject(error);
      }
    }
  }

  #runWaiting() {
    let after = this.state;
    const batch: RunUpdate[] = [];
    const exchanges: Exchange[] = [];
    const edits: [index: number, json: string][] = [];
    let clears: Update['clears'];
    for (const waiting of this.#waiting.slice(0, MAX_BATCH)) {
      const before = after;
      let update: Update;
      try {
        update = waiting.run(before);
      } catch (cause) {
        // It counts only if the state is current.
        batch.push({ waiting, isWrite: false, error: { cause } });
        continue;
      }
      const { state, exchange, edit } = update;
      // What it clears comes before it.
      if (update.clears !== undefined && batch.length > 0) break;
      ({ clears } = update);
      after = state;
      if (exchange !== undefined) exchanges.push(exchange);
      if (edit !== undefined) {
        const changed = countChanges(before.store, state.store);
        const json: Omit<Edit, 'after'> = { ...edit, at: timeOf(state.clock), changed };
        edits.push([exchanges.length, JSON.stringify(json)]);
      }
      const isWrite = state !== before || exchange !== undefined || edit !== undefined;
      batch.push({ waiting, isWrite, error: undefined });
      if (clears !== undefined) break;
    }
    return { batch, after, exchanges, ask: { clears, edits, ...this.#changes(after) } };
  }

  /** The parts to write for a state. */
  #changes(after: State): Pick<Ask, 'creates' | 'token' | 'parts'> {
    const creates = this.#version === '';
    const parts = PART_NAMES.filter((name) =>
      creates ? !this.#isInitial(name, after) : !PARTS[name].isSame(this.state, after),
    );
    if (parts.length === 0) return { parts };
    return { creates, parts, token: this.#context.createToken() };
  }

  /** Settings and clock depend on when the sandbox began, so they are always written. */
  #isInitial(name: PartName, state: State): boolean {
    const { initial } = this.#sandbox;
    return name !== 'settings' && name !== 'clock' && PARTS[name].isSame(state, initial);
  }

  async #ask(ask: Ask, exchanges: readonly Exchange[], after = this.state): Promise<UpdateReply> {
    const { redis, capacity } = this.#context;
    const { parts = [], token, clears, edits = [] } = ask;
    const held = exchanges.flatMap(({ hold }, index) => (hold === undefined ? [] : [index + 1]));
    const isWrite =
      token !== undefined || exchanges.length + edits.length > 0 || clears !== undefined;
    const asked = {
      ...ask,
      ...tally(this.#name, exchanges),
      ...{ version: this.#version, server: this.#context.server, channel: this.#channel },
      ...{ capacity, parts, held, edits, uses: isWrite },
    };
    const known = PART_NAMES.map((name) => `${name}=${this.#tokens.get(name) ?? ''}`);
    const texts = parts.map((name) =>
      this.#isInitial(name, after) ? '' : PARTS[name].write(after),
    );
    const args = [JSON.stringify(asked), `,${known},`, ...texts, ...exchanges.map(exchangeText)];
    const sentAt = performance.now();
    const { state, journal, edits: edited, held: holds } = this.#keys;
    const keys = [state, journal, edited, holds];
    const reply = await redis.eval(UPDATE, isWrite ? 'writes' : 'reads', keys, args);
    this.#roundTrip = performance.now() - sentAt;
    return readUpdateReply(reply);
  }

  /** Takes over parts that other servers have written. */
  async #take([version = '', born = '', ...parts]: readonly string[]): Promise<void> {
    const { id, openUpstream } = this.#context;
    const { start, initial } = this.#sandbox;
    if (!version.startsWith(id)) {
      await this.#context.enter(this.#name);
      throw new StorageError('servers with other settings have changed this sandbox');
    }
    for (let at = 0; at < parts.length; at += 3) {
      const [field, token = '', text = ''] = parts.slice(at, at + 3);
      const name = PART_NAMES.find((known) => known === field);
      if (name === undefined) throw new Error(`There is no part ${field}.`);
      const context = { start, initial, openUpstream };
      this.state = await PARTS[name].restore(this.state, text, context);
      this.#tokens.set(name, token);
    }
    this.#version = version;
    this.#born = born;
  }

  #forget(): void {
    const { start, initial } = this.#sandbox;
    this.state = initialState(start, initial.settings.upstream, Date.now());
    this.#version = '';
    this.#wasKnown = true;
    this.#tokens.clear();
  }

  /** Takes what Redis has kept. */
  #keep(
    after: State,
    { parts = [], token }: Ask,
    exchanges: readonly Exchange[],
    number: number,
  ): void {
    this.state = after;
    if (token !== undefined) {
      if (this.#version === '') this.#born = token;
      this.#version = token;
      for (const name of parts) this.#tokens.set(name, token);
    }
    for (const [index, exchange] of exchanges.entries()) {
      exchange.number = number + index + 1;
      if (exchange.hold !== undefined) this.journal.bornOf.set(exchange, this.#born);
    }
    if (exchanges.length === 0 || performance.now() < this.#enteredAt + ENTER_EVERY_MS) return;
    this.#enteredAt = performance.now();
    this.#context.keepEntered(this.#name);
  }
}

function readUpdateReply(reply: unknown): UpdateReply {
  const [kind, ...rest] = Array.isArray(reply) ? reply : [];
  return { kind, rest: rest.flat().map(String) };
}
