import type { RequestRecord } from '../evidence/exchange.ts';
import type { HeldExchange, Release } from '../evidence/holds.ts';
import { exchangeOf } from '../evidence/make-exchange.ts';
import type { Evidence } from '../evidence/sandbox-evidence.ts';
import type { Hold } from '../scenario/hold.ts';
import type { Outcome } from '../scenario/rules.ts';
import type { Start } from '../scenario/sandbox-start.ts';
import { type Instant, thisInstant } from '../service/clock.ts';
import { errorReply, Grounds } from '../service/reply.ts';
import { Commits, type Effect } from './commits.ts';
import { HeldReplies, type HoldEndings, type ReadyReply } from './held-replies.ts';
import { type Keeper, keeperErrorOf } from './keeper.ts';
import { type ArrivalListener, Recorder, type SandboxShare } from './recorder.ts';
import { initialState, type State } from './state.ts';
import { type Step, worldOf } from './step.ts';
import type { Upstream } from './upstream.ts';

/** Answers a request in a state. */
export type Answer = (state: State, now: Instant) => Step;

/** One isolated universe: a state, and the evidence of its exchanges. */
export class Sandbox {
  readonly name: string;
  /** What a reset returns to. */
  origin: Start;
  readonly #share: SandboxShare;
  readonly #recorder: Recorder;
  readonly #commits: Commits;
  // Created on first use: there can be many sandboxes, and most have none.
  #held: HeldReplies | undefined;
  #endings: Set<() => void> | undefined;

  /** @param keeper what keeps the state; undefined if only memory does */
  constructor(name: string, start: Start, share: SandboxShare, keeper?: Keeper) {
    this.name = name;
    this.origin = start;
    this.#share = share;
    const state = initialState(start, share.upstream, thisInstant().wall);
    this.#recorder = new Recorder(name, share, (exchanges) => {
      const due = exchanges.filter(({ hold }) => hold?.due !== undefined);
      const numbers = due.map(({ number }) => number);
      void this.#held?.end(due[0]?.hold?.due ?? 'released', numbers);
    });
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
    return this.#commits.add(
      (before) => this.#exchange(before, request, answer),
      (error) => this.#refuse(request, error),
    );
  }

  #exchange(before: State, request: RequestRecord, answer: Answer): Effect<Outcome> {
    const { keeper } = this.#commits;
    const now = thisInstant();
    const { state, outcome } = answer(before, now);
    const frozen = before.clock.frozenAt !== undefined;
    const exchange = exchangeOf(request, outcome, {
      world: worldOf(before, now.wall),
      now,
      frozen,
      evidence: this.evidence,
      isNext: keeper === undefined,
    });
    // Reading the time costs a request up to 3 %, so only a log, metrics and other observers get it exactly.
    const isTimed = !frozen && (keeper !== undefined || this.#recorder.isObserved);
    const receivedAt = isTimed ? request.receivedAt : undefined;
    return { state, exchange, receivedAt, result: outcome };
  }

  /** Answers a request whose change could not be kept. */
  #refuse(request: RequestRecord, error: unknown): Outcome {
    const { code, refusal } = keeperErrorOf(error);
    const { state } = this;
    const reply = errorReply(new Grounds(state.settings.choices), code, 503, refusal);
    const outcome: Outcome = { kind: 'reply', reply, delay: 0 };
    // A journal that servers share has only what its log has.
    if (this.#commits.keeper?.isShared !== true) {
      this.#recorder.take(this.#exchange(state, request, () => ({ state, outcome })));
    }
    return outcome;
  }

  /**
   * Changes the sandbox. The only way to do so, except for `perform`.
   *
   * @param edit pure; may run again, from another state
   * @returns the edit's result, once the change is kept
   * @throws KeeperError if it cannot be kept; it is then not made
   */
  change<T>(edit: (state: State, now: Instant) => Effect<T>): Promise<T> {
    return Promise.resolve(this.#commits.add((before) => edit(before, thisInstant())));
  }

  /**
   * Lets replies go that are held back. Their servers send them as soon as they hear of it.
   *
   * @returns the exchanges, in the order in which their replies go
   * @throws KeeperError
   */
  release(which: Release): Promise<readonly HeldExchange[]> {
    return this.change((state) => {
      const result = this.evidence.holds.waiting(which);
      const due = result.map(({ number }) => number);
      return { state, result, holds: { due, why: 'released' } };
    });
  }

  /** Sends a reply once it is released. */
  hold(hold: Hold, reply: ReadyReply): void {
    this.#held ??= new HeldReplies(this.#share, {
      end: (over) => this.#endHolds(over),
      follow: () => this.onArrival(() => {}),
    });
    this.#held.hold(hold, reply);
  }

  async #endHolds(over: HoldEndings): Promise<void> {
    const holds = { over };
    // The log of a sandbox that is deleted takes nothing.
    if (over.every(({ ended }) => ended === 'deleted')) this.#recorder.take({ holds });
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
   * @throws KeeperError if the log cannot be read
   */
  current(): Promise<void> | undefined {
    if (!this.hasKeeper) return undefined;
    return this.change((state) => ({ state, result: undefined }));
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
    void this.#held?.end('deleted');
    for (const ending of this.#endings ?? []) ending();
    this.#endings = undefined;
  }
}
