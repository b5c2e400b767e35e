import type { Exchange, RequestRecord } from '../evidence/exchange.ts';
import type { HeldExchange, Release } from '../evidence/holds.ts';
import { exchangeOf } from '../evidence/make-exchange.ts';
import type { Evidence } from '../evidence/sandbox-evidence.ts';
import type { Hold } from '../scenario/hold.ts';
import type { Outcome } from '../scenario/rules.ts';
import type { Start } from '../scenario/sandbox-start.ts';
import { type Instant, thisInstant } from '../service/clock.ts';
import { errorReply, Grounds } from '../service/reply.ts';
import type { ArrivalListener } from './arrivals.ts';
import { type Change, diff } from './change.ts';
import { Commits } from './commits.ts';
import type { HoldEndings, Holder, ReadyReply } from './held-replies.ts';
import { type Effects, type Keeper, NotSavedError } from './keeper.ts';
import { Recorder, type SandboxShare } from './recorder.ts';
import { initialState, type State } from './state.ts';
import { type Step, worldOf } from './step.ts';
import type { Upstream } from './upstream.ts';

/** What an edit makes of a state. */
export interface EditResult<T> extends Effects {
  readonly state: State;
  readonly result: T;
}

/** Answers a request in a state. */
export type Answer = (state: State, now: Instant) => Step;

/** One isolated universe: a state, and the evidence of its exchanges. */
export class Sandbox implements Holder {
  readonly name: string;
  /** What a reset returns to. */
  origin: Start;
  readonly #share: SandboxShare;
  readonly #recorder: Recorder;
  readonly #commits: Commits;
  // Created on first use: there can be many sandboxes, and most have none.
  #endings: Set<() => void> | undefined;

  /** @param keeper what keeps the state; undefined if only memory does */
  constructor(name: string, start: Start, share: SandboxShare, keeper?: Keeper) {
    this.name = name;
    this.origin = start;
    this.#share = share;
    const state = initialState(start, share.upstream, thisInstant().wall);
    this.#recorder = new Recorder(name, share, this);
    this.#commits = new Commits(state, this.#recorder, keeper, share.logMeter);
  }

  /** The acknowledged state. */
  get state(): State {
    return this.#commits.state;
  }

  get evidence(): Evidence {
    return this.#recorder.evidence;
  }

  /** The deployment that answers a sandbox after a reset. */
  get initialUpstream(): Upstream | undefined {
    return this.#share.upstream;
  }

  /** Whether changes of the store outlast the server. */
  get hasKeeper(): boolean {
    return this.#commits.keeper !== undefined;
  }

  /**
   * Answers a request, and records the exchange. At once where nothing keeps the state; otherwise when
   * what the request changed is kept.
   *
   * @param answer pure; may run again, from another state
   */
  perform(request: RequestRecord, answer: Answer): Outcome | Promise<Outcome> {
    const { keeper, state: before } = this.#commits;
    if (keeper !== undefined) return this.#performKept(request, answer, keeper);
    const { state, outcome, exchange } = this.#answered(before, request, answer);
    this.#commits.state = state;
    this.#acknowledge(exchange, request);
    return outcome;
  }

  #performKept(request: RequestRecord, answer: Answer, keeper: Keeper): Outcome | Promise<Outcome> {
    return this.#commits.add({
      run: (before) => {
        const { state, outcome, exchange } = this.#answered(before, request, answer);
        const change = changeToKeep(before, state, keeper);
        return {
          state,
          entry: keeper.isShared ? { change, exchange } : change && { change },
          kept: () => {
            this.#acknowledge(exchange, request);
            return outcome;
          },
        };
      },
      failed: (error) => {
        const { state } = this;
        const outcome = this.#refusal(error);
        // A journal that servers share has only what its log has.
        if (!keeper.isShared) {
          const { exchange } = this.#answered(state, request, () => ({ state, outcome }));
          this.#acknowledge(exchange, request);
        }
        return outcome;
      },
    });
  }

  /**
   * Changes the sandbox. The only way to do so, except for `perform`.
   *
   * @param edit pure; may run again, from another state
   * @returns the edit's result, once the change is kept
   * @throws NotSavedError if it cannot be kept; it is then not made
   */
  change<T>(edit: (state: State, now: Instant) => EditResult<T>): Promise<T> {
    return this.#change(edit, ({ result }) => result);
  }

  #change<T, R>(
    edit: (state: State, now: Instant) => EditResult<T>,
    resultOf: (edited: EditResult<T>, changed: readonly HeldExchange[]) => R,
  ): Promise<R> {
    const { keeper } = this.#commits;
    const done = this.#commits.add({
      run: (before) => {
        const edited = edit(before, thisInstant());
        const { state, result: _, ...effects } = edited;
        const isChange =
          state !== before || Object.values(effects).some((effect) => effect !== undefined);
        const change = changeToKeep(before, state, keeper);
        const hasEntry = keeper?.isShared ? isChange : change !== undefined;
        return {
          state,
          entry: hasEntry ? { ...effects, change } : undefined,
          kept: () => {
            const changed = this.#recorder.take(effects, true);
            if (isChange) this.evidence.noteChange();
            return resultOf(edited, changed);
          },
        };
      },
      failed: (error): Promise<R> => Promise.reject(error),
    });
    return Promise.resolve(done);
  }

  /**
   * Lets replies go that are held back. Their servers send them as soon as they hear of it.
   *
   * @returns the exchanges, in the order in which their replies go
   * @throws NotSavedError
   */
  release(due: Release): Promise<readonly HeldExchange[]> {
    const edit = (state: State) => ({
      state,
      result: undefined,
      holds: { due, why: 'released' } as const,
    });
    return this.#change(edit, (_, changed) => changed);
  }

  /** Sends a reply once it is released. */
  hold(hold: Hold, reply: ReadyReply): void {
    this.#share.held.hold(this, hold, reply);
  }

  async endHolds(over: HoldEndings): Promise<void> {
    const holds = { over };
    // The log of a sandbox that is deleted takes nothing.
    if (over.every(({ ended }) => ended === 'deleted')) this.#recorder.take({ holds }, true);
    else await this.change((state) => ({ state, result: undefined, holds })).catch(() => {});
  }

  /**
   * Calls back after each exchange, and after anything else that happens in the sandbox.
   *
   * @returns cancels the callback
   */
  onArrival(listener: ArrivalListener): () => void {
    const isShared = this.#commits.keeper?.isShared === true;
    return this.#recorder.onArrival(listener, isShared ? async () => this.current() : undefined);
  }

  /**
   * Resolves when the state is what is kept, the changes of other servers included. Undefined where
   * only memory keeps the state.
   *
   * @throws NotSavedError if the log cannot be read
   */
  current(): Promise<void> | undefined {
    return this.#commits.current();
  }

  /**
   * Calls back when the sandbox is deleted or its server closes.
   *
   * @returns cancels the callback
   */
  onEnd(ending: () => void): () => void {
    this.#endings ??= new Set();
    this.#endings.add(ending);
    return () => this.#endings?.delete(ending);
  }

  end(): void {
    void this.#share.held.endAll(this, 'deleted');
    for (const ending of this.#endings ?? []) ending();
    this.#endings = undefined;
  }

  #answered(
    before: State,
    request: RequestRecord,
    answer: Answer,
  ): Step & { readonly exchange: Exchange } {
    const now = thisInstant();
    const { state, outcome } = answer(before, now);
    const exchange = exchangeOf(request, outcome, {
      world: worldOf(before, now.wall),
      now,
      frozen: before.clock.frozenAt !== undefined,
      evidence: this.evidence,
      isNext: this.#commits.keeper === undefined,
    });
    return { state, outcome, exchange };
  }

  #acknowledge(exchange: Exchange, { receivedAt }: RequestRecord): void {
    const isTimed = this.state.clock.frozenAt === undefined;
    // Reading the time costs a request up to 3 %, so only a log, metrics and other observers get it exactly.
    if (isTimed && (this.#recorder.isObserved || this.hasKeeper)) {
      exchange.duration = performance.now() - receivedAt + exchange.delay;
    }
    const { attempt, delay } = exchange;
    if (attempt) attempt.leftAt = performance.timeOrigin + thisInstant().steady + delay;
    this.#recorder.add(exchange);
  }

  #refusal(error: unknown): Outcome {
    const { code, message } = error instanceof NotSavedError ? error : new NotSavedError(error);
    const grounds = new Grounds(this.state.settings.choices);
    return { kind: 'reply', reply: errorReply(grounds, code, 503, message), delay: 0 };
  }
}

/** What a keeper takes of the change between two states. */
function changeToKeep(before: State, after: State, keeper: Keeper | undefined): Change | undefined {
  if (keeper === undefined) return undefined;
  const change = diff(before, after);
  return keeper.isShared ? change : change?.store && { store: change.store };
}
