import type { Outcome } from '../../core/sandbox/answer.ts';
import { type HeldExchange, type HoldEnd, isWaiting } from '../../core/sandbox/exchange.ts';
import { type Release, type Released, selectHeld } from '../../core/sandbox/holds.ts';
import type { KeptSandbox } from '../../core/sandbox/persistence.ts';
import type { Sandbox, SandboxListener } from '../../core/sandbox/sandbox.ts';
import type { State } from '../../core/sandbox/state.ts';
import type { FleetContext } from './fleet-context.ts';
import { FleetJournal } from './fleet-journal.ts';
import { TOUCH } from './scripts.ts';
import { type PreparedCall, SharedState } from './shared-state.ts';

const MAX_BATCH = 100;

/** For other servers to send what they hold. */
const CONFIRM_TIMEOUT_MS = 1_000;

interface WaitingCall {
  readonly run: () => PreparedCall;
  readonly reject: (error: unknown) => void;
}

interface Batch {
  readonly calls: readonly PreparedCall[];
  readonly failures: readonly (() => void)[];
  readonly after: State;
}

/** A sandbox whose state is in Redis. */
export class FleetSandbox implements KeptSandbox {
  readonly journal: FleetJournal;
  readonly #sandbox: Sandbox;
  readonly #context: FleetContext;
  readonly #state: SharedState;
  readonly #keys: readonly string[];
  readonly #waiting: WaitingCall[] = [];
  #isRunning = false;

  constructor(sandbox: Sandbox, context: FleetContext, createState: () => State) {
    this.#sandbox = sandbox;
    this.#context = context;
    const keys = context.sandboxKeys(sandbox.name);
    this.#keys = [...Object.values(keys), context.fleetKeys.sandboxes];
    this.journal = new FleetJournal(sandbox, keys, context);
    this.#state = new SharedState(sandbox, keys, this.journal, context, createState);
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
    return this.#state.offer([], this.#sandbox.state, true);
  }

  /** Keeps it in use. */
  async touch(): Promise<void> {
    const { name, unused } = this.#sandbox;
    if (unused > 0) return;
    await this.#context.redis.eval(TOUCH, this.#keys, [name, `${this.#context.ttl}`]);
    await this.journal.look();
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
    const listener: { check: () => void } = { check: () => {} };
    const cancel = this.subscribe((event) => {
      if (event.kind !== 'hold') return;
      if (event.exchange.hold?.ended !== 'left') sent.add(event.exchange.number);
      listener.check();
    });
    try {
      await this.journal.follow();
      const { claimed, held } = await this.journal.claim(due, which.count ?? due.length, why);
      const released = due.filter(({ number }) => claimed.has(number));
      await new Promise<void>((resolve) => {
        const cancelTimer = this.#context.platform.after(CONFIRM_TIMEOUT_MS, resolve);
        listener.check = () => {
          if (released.some(({ number }) => !sent.has(number))) return;
          cancelTimer();
          resolve();
        };
        listener.check();
      });
      return { released: released.filter(({ number }) => sent.has(number)), held };
    } finally {
      cancel();
    }
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

  async #offer({ calls, after }: Batch): Promise<boolean> {
    const isHeld = calls.some(({ outcome: { exchange } }) => exchange && isWaiting(exchange));
    // A release must not come before somebody listens.
    if (isHeld) await this.journal.follow();
    return this.#state.offer(calls, after);
  }

  /** Runs what waits, each on the state that the one before leaves. */
  #runWaiting(): Batch {
    const sandbox = this.#sandbox;
    const [calls, failures]: [PreparedCall[], (() => void)[]] = [[], []];
    let { state } = sandbox;
    for (const { run, reject } of this.#waiting.slice(0, MAX_BATCH)) {
      try {
        const call = run();
        const { outcome } = call;
        // What it clears comes before it.
        if (outcome.clears !== undefined && calls.length + failures.length > 0) break;
        const isSaved = outcome.state.snapshots !== state.snapshots;
        state = outcome.state;
        sandbox.pending = state;
        calls.push(call);
        // A snapshot refers to what the batch leaves.
        if (isSaved) break;
      } catch (error) {
        // It counts only if the state is current.
        failures.push(() => reject(error));
      }
    }
    sandbox.pending = undefined;
    return { calls, failures, after: state };
  }
}
