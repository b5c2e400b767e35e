import type { Outcome } from '../../core/sandbox/answer.ts';
import { type HeldExchange, type HoldEnd, isHeld } from '../../core/sandbox/exchange.ts';
import { type Release, type Released, selectHeld } from '../../core/sandbox/holds.ts';
import type { KeptSandbox } from '../../core/sandbox/persistence.ts';
import type { Sandbox, SandboxListener } from '../../core/sandbox/sandbox.ts';
import type { State } from '../../core/sandbox/state.ts';
import { RedisJournal } from './redis-journal.ts';
import { type Batch, type FleetContext, type PreparedCall, SharedState } from './shared-state.ts';

const MAX_BATCH = 100;

/** For other servers to send what they hold. */
const CONFIRM_TIMEOUT_MS = 1_000;

interface WaitingCall {
  readonly run: () => PreparedCall;
  readonly reject: (error: unknown) => void;
}

/** A sandbox whose state is in Redis. A server caches the state, and asks each time if it is current. */
export class FleetSandbox implements KeptSandbox {
  readonly journal: RedisJournal;
  readonly #sandbox: Sandbox;
  readonly #context: FleetContext;
  readonly #state: SharedState;
  readonly #waiting: WaitingCall[] = [];
  #isRunning = false;
  #holding = 0;

  constructor(sandbox: Sandbox, context: FleetContext, createState: () => State) {
    this.#sandbox = sandbox;
    this.#context = context;
    const server = crypto.randomUUID();
    this.#state = new SharedState(server, sandbox, context, createState);
    this.journal = new RedisJournal(server, sandbox, context.redis, context.maxHold);
  }

  run<T>(call: () => Outcome<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const run = (): PreparedCall => {
        const madeAt = performance.now();
        const outcome = call();
        const take = (): void => {
          // Redis has the journal, and nobody undoes an edit.
          resolve(this.#sandbox.take({ ...outcome, edit: undefined }, performance.now() - madeAt));
          if (outcome.edit !== undefined) this.#sandbox.emit({ kind: 'edit' });
        };
        const drop = (): void => {
          if (outcome.exchange !== undefined) this.#sandbox.report(outcome.exchange);
          resolve(outcome.result);
        };
        return { outcome, take, drop };
      };
      this.#waiting.push({ run, reject });
      if (!this.#isRunning) void this.#runAll();
    });
  }

  /** False if there is one. */
  create(): Promise<boolean> {
    return this.#state.create();
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
    const isFollowed = this.#sandbox.listeners > 0 || this.#holding > 0 || this.#isRunning;
    if (!isFollowed) this.journal.unfollow();
  }

  /** Tells Redis, and so the other servers, that a reply is no longer held. */
  async endHold(exchange: HeldExchange): Promise<void> {
    this.#holding -= 1;
    await this.journal.endHold(exchange);
    this.#unfollow();
  }

  async release(which: Release, why: HoldEnd): Promise<Released> {
    const due = selectHeld(await this.journal.held(), which);
    const exchanges = due.map(({ number }) => number);
    const left = new Set(exchanges);
    const confirmed = this.#waitUntilSent(left);
    if (due.length > 0) {
      await this.journal.publish('release', JSON.stringify({ why, exchanges }));
      this.#sandbox.emit({ kind: 'release', why, exchanges });
    }
    await confirmed;
    const held = (await this.journal.held()).length;
    return { released: due.filter(({ number }) => !left.has(number)), held };
  }

  /** Removes from `left` what was sent, until all is sent or the time is over. */
  async #waitUntilSent(left: Set<number>): Promise<void> {
    if (left.size === 0) return;
    await new Promise<void>((resolve) => {
      const end = (): void => {
        cancelTimer();
        cancel();
        resolve();
      };
      const cancelTimer = this.#context.platform.after(CONFIRM_TIMEOUT_MS, end);
      const cancel = this.subscribe((event) => {
        if (event.kind === 'hold') left.delete(event.exchange.number);
        if (left.size === 0) end();
      });
    });
  }

  async #runAll(): Promise<void> {
    this.#isRunning = true;
    while (this.#waiting.length > 0) {
      let batch = this.#runWaiting();
      const size = () => batch.calls.length + batch.failures.length;
      try {
        while (!(await this.#offer(batch))) batch = this.#runWaiting();
        this.#waiting.splice(0, size());
        for (const fail of batch.failures) fail();
      } catch (error) {
        for (const { reject } of this.#waiting.splice(0, size())) reject(error);
      }
    }
    this.#isRunning = false;
  }

  async #offer(batch: Batch): Promise<boolean> {
    const held = batch.calls.filter(({ outcome: { exchange } }) => exchange && isHeld(exchange));
    // A release must not come before somebody listens.
    if (held.length > 0) await this.journal.follow();
    const isKept = await this.#state.offer(batch);
    if (isKept) this.#holding += held.length;
    return isKept;
  }

  /** Runs what waits, each on the state that the one before leaves. */
  #runWaiting(): Batch {
    const sandbox = this.#sandbox;
    const [calls, failures]: [PreparedCall[], (() => void)[]] = [[], []];
    for (const { run, reject } of this.#waiting.slice(0, MAX_BATCH)) {
      try {
        const call = run();
        const { state, clears, resets = false } = call.outcome;
        // What it clears comes before it.
        if (clears !== undefined && calls.length + failures.length > 0) break;
        const { problem } = this.#state;
        if (problem !== undefined && !resets) throw problem;
        sandbox.pending = state;
        calls.push(call);
      } catch (error) {
        // It counts only if the state is current.
        failures.push(() => reject(error));
      }
    }
    const after = sandbox.pending ?? sandbox.state;
    sandbox.pending = undefined;
    return { calls, failures, after };
  }
}
