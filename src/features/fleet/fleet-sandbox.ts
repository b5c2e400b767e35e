import { PERMANENT_SANDBOXES } from '../../core/limits.ts';
import type { Outcome } from '../../core/sandbox/answer.ts';
import {
  type Exchange,
  type ExchangeWithHold,
  type HoldEnd,
  isHeld,
} from '../../core/sandbox/exchange.ts';
import { type Release, type Released, selectHeld } from '../../core/sandbox/holds.ts';
import type { Sandbox, SandboxListener } from '../../core/sandbox/sandbox.ts';
import type { Start } from '../../core/sandbox/start.ts';
import { initialState } from '../../core/sandbox/state.ts';
import { createLimitError, StorageError } from '../../core/sandbox/storage-error.ts';
import { steadyNow } from '../../core/service/clock.ts';
import { type FleetContext, FleetJournal } from './fleet-journal.ts';
import { compactTotals, writeTotals } from './fleet-totals.ts';
import { sandboxKey, UPDATE_FLAGS } from './scripts.ts';
import {
  type CachedState,
  corruptDataError,
  MissingPartError,
  readNewParts,
  writeParts,
} from './state-parts.ts';
import { writeExchange } from './stored-exchange.ts';

const MAX_BATCH = 100;

/** How long a release waits for other servers to send their replies. */
const CONFIRM_TIMEOUT_MS = 1_000;

interface PreparedCall {
  readonly outcome: Outcome<unknown>;
  /** Resolves the call. Takes its outcome if Redis has kept it. */
  readonly settle: (isKept: boolean) => void;
}

/** A sandbox in Redis. A server caches its state, and each call checks that it is current. */
export class FleetSandbox {
  readonly journal: FleetJournal;
  readonly #sandbox: Sandbox;
  readonly #context: FleetContext;
  /** Whether a call creates the sandbox if it does not exist. */
  readonly #mayCreate: boolean;
  /** What the sandbox starts from if this server creates it. */
  readonly #initialStart: Start;
  #cached: CachedState;
  /** The version of the cached state; 0 if there is none. */
  #version = 0;
  /** Whether another server was faster last time. Then this one reads its changes first. */
  #isBehind = false;
  readonly #queue: { prepare: () => PreparedCall; reject: (error: unknown) => void }[] = [];
  #isRunning = false;

  constructor(sandbox: Sandbox, context: FleetContext, mayCreate: boolean) {
    this.#sandbox = sandbox;
    this.#context = context;
    this.#mayCreate = mayCreate;
    this.#initialStart = sandbox.start;
    this.journal = new FleetJournal(sandbox, context);
    this.#cached = { state: sandbox.state, versions: new Map(), snapshots: new Map() };
  }

  keep<T>(compute: () => Outcome<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const prepare = (): PreparedCall => {
        const madeAt = steadyNow();
        try {
          const outcome = compute();
          const settle = (isKept: boolean) => resolve(this.#settle(outcome, isKept, madeAt));
          return { outcome, settle };
        } catch (error) {
          // The error counts only if Redis says that the state was current.
          return { outcome: this.#sandbox.read(), settle: () => reject(error) };
        }
      };
      this.#queue.push({ prepare, reject });
      if (!this.#isRunning) void this.#runQueue();
    });
  }

  #settle<T>(outcome: Outcome<T>, isKept: boolean, madeAt: number): T {
    const sandbox = this.#sandbox;
    const { result, exchange, edit } = outcome;
    // Redis has the journal, and edits of a fleet cannot be undone, so none is kept here.
    if (isKept) sandbox.take({ ...outcome, edit: undefined }, steadyNow() - madeAt);
    else if (exchange !== undefined) sandbox.announce(exchange);
    if (isKept && edit !== undefined) sandbox.emit({ kind: 'edit' });
    return result;
  }

  /** Resolves to false if the sandbox exists already. */
  create(): Promise<boolean> {
    return this.#commit([], true);
  }

  subscribe(listener: SandboxListener): () => void {
    const cancel = this.#sandbox.subscribe(listener);
    void this.journal.follow();
    return () => {
      cancel();
      this.#unfollow();
    };
  }

  #unfollow(): void {
    const isFollowed = this.#sandbox.listeners > 0 || this.journal.isHolding || this.#isRunning;
    if (!isFollowed) this.journal.unfollow();
  }

  /** Records in Redis, for all servers, that a reply is no longer held. */
  async endHold(exchange: ExchangeWithHold): Promise<void> {
    await this.journal.endHold(exchange);
    this.#unfollow();
  }

  async release(which: Release, why: HoldEnd): Promise<Released> {
    const due = selectHeld(await this.journal.held(), { ...which, count: undefined });
    const sent = new Set<number>();
    let check = (): void => {};
    const cancel = this.subscribe((event) => {
      if (event.kind !== 'hold') return;
      if (event.exchange.hold?.ended !== 'left') sent.add(event.exchange.number);
      check();
    });
    try {
      await this.journal.follow();
      const { claimed, held } = await this.journal.claim(due, which.count ?? due.length, why);
      const released = due.filter(({ number }) => claimed.has(number));
      await new Promise<void>((resolve) => {
        const cancelTimer = this.#context.platform.after(CONFIRM_TIMEOUT_MS, resolve);
        check = () => {
          if (released.some(({ number }) => !sent.has(number))) return;
          cancelTimer();
          resolve();
        };
        check();
      });
      return { released: released.filter(({ number }) => sent.has(number)), held };
    } finally {
      cancel();
    }
  }

  async #runQueue(): Promise<void> {
    this.#isRunning = true;
    while (this.#queue.length > 0) {
      let size = this.#queue.length;
      try {
        if (this.#isBehind) await this.#commit([]);
        for (let isKept = false; !isKept; ) {
          const calls = this.#runBatch();
          size = calls.length;
          isKept = await this.#commit(calls);
        }
        this.#queue.splice(0, size);
      } catch (error) {
        for (const { reject } of this.#queue.splice(0, size)) reject(error);
      }
    }
    this.#isRunning = false;
  }

  /** Runs the waiting calls, each on the state that the previous one left. */
  #runBatch(): readonly PreparedCall[] {
    const sandbox = this.#sandbox;
    const calls: PreparedCall[] = [];
    for (const { prepare } of this.#queue.slice(0, MAX_BATCH)) {
      const { snapshots } = sandbox.read().state;
      const call = prepare();
      const { state, clears } = call.outcome;
      // A call that clears the journal must be the first of its batch.
      if (clears !== undefined && calls.length > 0) break;
      sandbox.unsaved = state;
      calls.push(call);
      // A snapshot refers to the state at the end of the batch, so it has to be the last.
      if (state.snapshots !== snapshots) break;
    }
    sandbox.unsaved = undefined;
    return calls;
  }

  /** Asks Redis to keep the outcomes. False if the state was outdated; now it is the newest. */
  async #commit(calls: readonly PreparedCall[], isNew = false): Promise<boolean> {
    const { redis, counts, updateScript, maxSandboxes } = this.#context;
    const exchanges = calls.flatMap(({ outcome }) => outcome.exchange ?? []);
    // Subscribe before Redis knows of the hold, so as not to miss its release.
    if (exchanges.some(isHeld)) await this.journal.follow();
    const until = redis.deadline;
    const { cached, version, args } = this.#writeUpdate(calls, exchanges, isNew, until);
    const reply = await redis.eval(updateScript, args, { until });
    const [kind, ...rest] = Array.isArray(reply) ? reply : [];
    this.#isBehind = kind === 'conflict';
    switch (kind) {
      case 'committed': {
        const [number, generation, added] = rest;
        this.#version = version;
        this.#cached = cached;
        counts.calls += calls.length;
        this.journal.noteGeneration(String(generation));
        for (const [index, exchange] of exchanges.entries()) {
          exchange.number = Number(number) + index + 1;
          if (isHeld(exchange)) this.journal.hold(exchange.number);
        }
        for (const { settle } of calls) settle(true);
        compactTotals(redis, added, this.#sandbox.name);
        return true;
      }
      case 'conflict':
        counts.conflicts += calls.length;
        if (!isNew) await this.#read(rest);
        return false;
      case 'gone':
        if (this.#version !== 0) return this.#forget();
        // A sandbox that must not be created answers like a new one, but keeps nothing.
        for (const { settle } of calls) settle(false);
        return true;
      case 'full':
        throw createLimitError(maxSandboxes, this.#sandbox.name);
      default:
        throw new StorageError(`${redis.address.shown} was asked too late`);
    }
  }

  /** The arguments of `updateScript` in its order, and the cached state once they are kept. */
  #writeUpdate(
    calls: readonly PreparedCall[],
    exchanges: readonly Exchange[],
    isNew: boolean,
    until: number,
  ) {
    const { redis, server, maxSandboxes } = this.#context;
    const { name, state } = this.#sandbox;
    const outcomes = calls.map(({ outcome }) => outcome);
    const after = outcomes.at(-1)?.state ?? state;
    const clears = outcomes[0]?.clears;
    const isKept = outcomes.some((it) => (it.exchange ?? it.clears ?? it.edit) !== undefined);
    const writes = isNew || after !== state || isKept;
    const creates = this.#version === 0 && writes && (isNew || this.#mayCreate);
    const flags = [
      writes ? UPDATE_FLAGS.write : '',
      creates ? UPDATE_FLAGS.create : '',
      outcomes.some(({ edit }) => edit !== undefined) ? UPDATE_FLAGS.edit : '',
      clears === undefined ? '' : UPDATE_FLAGS.clear,
      clears === 'all' ? UPDATE_FLAGS.clearTotals : '',
    ];
    const own = Math.max(this.#version + 1, Math.floor((Date.now() + Math.random()) * 1000));
    const { next, parts, unreferenced } = writeParts(this.#cached, after, own, creates);
    const args = [
      name,
      `${own}`,
      server,
      `${redis.timeOf(until)}`,
      `${this.#version}`,
      PERMANENT_SANDBOXES.includes(name) ? '' : `${maxSandboxes}`,
      flags.join(''),
      exchanges.flatMap((it, at) => (isHeld(it) ? at + 1 : [])).join(' '),
      writeTotals(exchanges, name, 1),
      `${parts.length}`,
      `${unreferenced.length}`,
      ...parts.flat(),
      ...unreferenced,
      ...exchanges.flatMap(writeExchange),
    ];
    return { cached: next, version: parts.length > 0 ? own : this.#version, args };
  }

  async #read(rows: readonly unknown[]): Promise<void> {
    const { redis } = this.#context;
    const key = sandboxKey(redis.prefix, this.#sandbox.name, 'parts');
    const fetchFields = (fields: readonly string[]) => redis.run(['HMGET', key, ...fields]);
    try {
      const cached = await readNewParts(this.#cached, rows, fetchFields, this.#initialStart);
      this.#cache(cached, Math.max(...cached.versions.values()));
    } catch (error) {
      if (error instanceof MissingPartError) this.#forget();
      else throw error instanceof StorageError ? error : corruptDataError('state', error);
    }
  }

  #forget(): false {
    const state = initialState(this.#initialStart, Date.now());
    this.#cache({ state, versions: new Map(), snapshots: new Map() }, 0);
    return false;
  }

  #cache(cached: CachedState, version: number): void {
    this.#cached = cached;
    this.#version = version;
    this.#sandbox.state = cached.state;
    // Another server may have created the sandbox with another start.
    this.#sandbox.start = cached.state.settings.start;
  }
}
