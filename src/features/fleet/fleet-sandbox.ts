import { PERMANENT_SANDBOXES } from '../../core/limits.ts';
import type { Outcome } from '../../core/sandbox/answer.ts';
import { type HeldExchange, type HoldEnd, isWaiting } from '../../core/sandbox/exchange.ts';
import { type Release, type Released, selectHeld } from '../../core/sandbox/holds.ts';
import type { KeptSandbox } from '../../core/sandbox/persistence.ts';
import type { Sandbox, SandboxListener } from '../../core/sandbox/sandbox.ts';
import { initialState } from '../../core/sandbox/state.ts';
import { createLimitError, StorageError } from '../../core/sandbox/storage-error.ts';
import { type FleetContext, FleetJournal } from './fleet-journal.ts';
import { addUp, writeTotals } from './fleet-totals.ts';
import { ASKS, sandboxKey } from './scripts.ts';
import {
  type CachedState,
  PartGoneError,
  readNewParts,
  spoiltError,
  writeParts,
} from './state-parts.ts';
import { writeExchange } from './stored-exchange.ts';

const MAX_BATCH = 100;

/** For other servers to send what they hold. */
const CONFIRM_TIMEOUT_MS = 1_000;

interface PreparedCall {
  readonly outcome: Outcome<unknown>;
  /** Settles its promise. Takes the outcome, unless Redis has no such sandbox. */
  readonly settle: (isKept: boolean) => void;
}

interface WaitingCall {
  readonly prepare: () => PreparedCall;
  readonly reject: (error: unknown) => void;
}

/** A sandbox whose state is in Redis. A server caches it, and each call asks if it is current. */
export class FleetSandbox implements KeptSandbox {
  readonly journal: FleetJournal;
  readonly #sandbox: Sandbox;
  readonly #context: FleetContext;
  /** Whether calls create it; else only other servers may have it. */
  readonly #mayCreate: boolean;
  #cached: CachedState;
  /** The latest one that this server knows; 0 if it knows no sandbox. */
  #version = 0;
  /** Whether another server was faster the last time: then this one first takes what is newer. */
  #isBehind = false;
  readonly #waiting: WaitingCall[] = [];
  #isRunning = false;

  constructor(sandbox: Sandbox, context: FleetContext, mayCreate: boolean) {
    this.#sandbox = sandbox;
    this.#context = context;
    this.#mayCreate = mayCreate;
    this.journal = new FleetJournal(sandbox, context);
    this.#cached = { state: sandbox.state, versions: new Map(), snapshots: new Map() };
  }

  run<T>(call: () => Outcome<T>): Promise<T> {
    const sandbox = this.#sandbox;
    return new Promise((resolve, reject) => {
      const prepare = (): PreparedCall => {
        const madeAt = performance.now();
        try {
          const outcome = call();
          const settle = (isKept: boolean): void => {
            const { result, exchange, edit } = outcome;
            // Redis has the journal, and nobody undoes an edit.
            const kept = { ...outcome, edit: undefined };
            if (isKept) sandbox.take(kept, performance.now() - madeAt);
            else if (exchange !== undefined) sandbox.report(exchange);
            if (isKept && edit !== undefined) sandbox.emit({ kind: 'edit' });
            resolve(result);
          };
          return { outcome, settle };
        } catch (error) {
          // It counts only if the state is current.
          return { outcome: sandbox.read(), settle: () => reject(error) };
        }
      };
      this.#waiting.push({ prepare, reject });
      if (!this.#isRunning) void this.#runAll();
    });
  }

  /** False if there is one. */
  create(): Promise<boolean> {
    return this.#offer([], true);
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

  /** Tells Redis, and so the other servers, that a reply is no longer held. */
  async endHold(exchange: HeldExchange): Promise<void> {
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

  async #runAll(): Promise<void> {
    this.#isRunning = true;
    while (this.#waiting.length > 0) {
      let size = this.#waiting.length;
      try {
        if (this.#isBehind) await this.#offer([]);
        for (let isKept = false; !isKept; ) {
          const calls = this.#runWaiting();
          size = calls.length;
          isKept = await this.#offer(calls);
        }
        this.#waiting.splice(0, size);
      } catch (error) {
        for (const { reject } of this.#waiting.splice(0, size)) reject(error);
      }
    }
    this.#isRunning = false;
  }

  /** Runs what waits, each on the state that the one before leaves. */
  #runWaiting(): readonly PreparedCall[] {
    const sandbox = this.#sandbox;
    const calls: PreparedCall[] = [];
    for (const { prepare } of this.#waiting.slice(0, MAX_BATCH)) {
      const { snapshots } = sandbox.read().state;
      const call = prepare();
      const { state, clears } = call.outcome;
      // What it clears comes before it.
      if (clears !== undefined && calls.length > 0) break;
      sandbox.unsaved = state;
      calls.push(call);
      // A snapshot refers to what the batch leaves.
      if (state.snapshots !== snapshots) break;
    }
    sandbox.unsaved = undefined;
    return calls;
  }

  /** False if the calls were made of an old state; this server knows the present one now. */
  async #offer(calls: readonly PreparedCall[], isNew = false): Promise<boolean> {
    const { redis, counts, server, updateScript, maxSandboxes } = this.#context;
    const { name, state } = this.#sandbox;
    const outcomes = calls.map(({ outcome }) => outcome);
    const after = outcomes.at(-1)?.state ?? state;
    const exchanges = outcomes.flatMap(({ exchange }) => exchange ?? []);
    const held = exchanges.flatMap((exchange, index) => (isWaiting(exchange) ? index + 1 : []));
    // A release must not come before somebody listens.
    if (held.length > 0) await this.journal.follow();
    const clears = outcomes[0]?.clears;
    const isKept = outcomes.some((it) => (it.exchange ?? it.clears ?? it.edit) !== undefined);
    const writes = isNew || after !== state || isKept;
    const creates = this.#version === 0 && writes && (isNew || this.#mayCreate);
    const asks = [
      writes ? ASKS.write : '',
      creates ? ASKS.create : '',
      outcomes.some(({ edit }) => edit !== undefined) ? ASKS.edit : '',
      clears === undefined ? '' : ASKS.clear,
      clears === 'all' ? ASKS.clearTotals : '',
    ];
    const version = Math.max(this.#version + 1, Math.floor((Date.now() + Math.random()) * 1000));
    const { next, parts, drops } = writeParts(this.#cached, after, version, creates);
    const until = redis.deadline;
    const args = [
      name,
      `${version}`,
      server,
      `${redis.timeOf(until)}`,
      `${this.#version}`,
      PERMANENT_SANDBOXES.includes(name) ? '' : `${maxSandboxes}`,
      asks.join(''),
      held.join(' '),
      writeTotals(exchanges, name, 1),
      `${parts.length}`,
      `${drops.length}`,
      ...parts.flat(),
      ...drops,
      ...exchanges.flatMap(writeExchange),
    ];
    const reply = await redis.eval(updateScript, args, { until });
    const [kind, ...rest] = Array.isArray(reply) ? reply : [];
    this.#isBehind = kind === 'changed';
    switch (kind) {
      case 'kept': {
        const [number, generation, added] = rest;
        if (parts.length > 0) this.#version = version;
        this.#cached = next;
        counts.calls += calls.length;
        this.journal.noteGeneration(String(generation));
        for (const [index, exchange] of exchanges.entries()) {
          exchange.number = Number(number) + index + 1;
          if (isWaiting(exchange)) this.journal.hold(exchange.number);
        }
        for (const { settle } of calls) settle(true);
        addUp(redis, added, name);
        return true;
      }
      case 'changed':
        counts.conflicts += calls.length;
        if (!isNew) await this.#read(rest);
        return false;
      case 'gone':
        if (this.#version !== 0) return this.#forget();
        // One that is not to be created answers like a new one.
        for (const { settle } of calls) settle(false);
        return true;
      case 'full':
        throw createLimitError(maxSandboxes, name);
      default:
        throw new StorageError(`${redis.address.shown} was asked too late`);
    }
  }

  /** @param rows of each part its name, its version, and its text if it is newer than what is known */
  async #read(rows: readonly unknown[]): Promise<void> {
    const { redis } = this.#context;
    const versions = new Map<string, number>();
    const texts = new Map<string, string>();
    for (let at = 0; at < rows.length; at += 3) {
      const [part, version, text] = rows.slice(at, at + 3);
      versions.set(String(part), Number(version));
      if (typeof text === 'string') texts.set(`${part}@${version}`, text);
    }
    const key = sandboxKey(redis.prefix, this.#sandbox.name, 'parts');
    const read = async (fields: readonly string[]) => {
      const missing = fields.filter((field) => !texts.has(field));
      const reply = missing.length > 0 && (await redis.run(['HMGET', key, ...missing]));
      for (const [index, field] of missing.entries()) {
        const text = Object(reply)[index];
        if (typeof text !== 'string') throw new PartGoneError();
        texts.set(field, text);
      }
      return texts;
    };
    try {
      this.#cached = await readNewParts(this.#cached, versions, read, this.#sandbox.start);
      this.#version = Math.max(...versions.values());
      this.#sandbox.state = this.#cached.state;
    } catch (error) {
      if (error instanceof PartGoneError) this.#forget();
      else throw error instanceof StorageError ? error : spoiltError('state', error);
    }
  }

  #forget(): false {
    const state = initialState(this.#sandbox.start, Date.now());
    this.#cached = { state, versions: new Map(), snapshots: new Map() };
    this.#sandbox.state = state;
    this.#version = 0;
    return false;
  }
}
