import { warn } from '../error-code.ts';
import type { Exchange } from '../evidence/exchange.ts';
import type { OnFinding } from '../evidence/findings.ts';
import type { ExchangeListener } from '../evidence/journal.ts';
import { exchangeOf } from '../evidence/make-exchange.ts';
import type { LogMeter, Meter } from '../evidence/meter.ts';
import { PastEvidence } from '../evidence/past.ts';
import type { RequestRecord } from '../evidence/request-record.ts';
import { Evidence } from '../evidence/sandbox-evidence.ts';
import type { Outcome } from '../scenario/outcome.ts';
import type { Start } from '../scenario/sandbox-start.ts';
import { type Instant, thisInstant } from '../service/clock.ts';
import { errorReply, Grounds } from '../service/reply.ts';
import { apply, type Change, diff } from './change.ts';
import { Commits } from './commits.ts';
import { type Effects, type Entry, type Keeper, type Missed, NotSavedError } from './keeper.ts';
import { initialState, type State, worldOf } from './state.ts';
import type { Step } from './step.ts';
import type { Upstream } from './upstream.ts';

/** What all sandboxes of a server share. */
export interface SandboxShare {
  /** How many exchanges each journal keeps. */
  readonly journal: number;
  readonly observers: ReadonlySet<ExchangeListener>;
  readonly onFinding: OnFinding | undefined;
  /** The deployment that answers in each sandbox at first; undefined if the mock does. */
  readonly upstream: Upstream | undefined;
  /** Counts exchanges; undefined until somebody wants to know. */
  meter?: Meter | undefined;
  readonly logMeter?: LogMeter;
}

/** What an edit makes of a state. */
export interface EditResult<T> extends Effects {
  readonly state: State;
  readonly result: T;
}

/** Answers a request in a state. */
export type Answer = (state: State, now: Instant) => Step;

/** One isolated universe: a state, and the evidence of its exchanges. */
export class Sandbox {
  readonly name: string;
  /** What a reset returns to. */
  origin: Start;
  readonly #share: SandboxShare;
  readonly #keeper: Keeper | undefined;
  readonly #commits: Commits | undefined;
  #state: State;
  #evidence: Evidence;
  // Created on first use: there can be many sandboxes, and most have none.
  #endings: Set<() => void> | undefined;

  /** @param keeper what keeps the state; undefined if only memory does */
  constructor(name: string, start: Start, share: SandboxShare, keeper?: Keeper) {
    this.name = name;
    this.origin = start;
    this.#share = share;
    this.#state = initialState(start, share.upstream, thisInstant().wall);
    this.#evidence = new Evidence(name, share.journal);
    this.#keeper = keeper;
    this.#commits = keeper && this.#commitsTo(keeper);
  }

  /** The acknowledged state. */
  get state(): State {
    return this.#state;
  }

  get evidence(): Evidence {
    return this.#evidence;
  }

  /** The deployment that answers a sandbox after a reset. */
  get initialUpstream(): Upstream | undefined {
    return this.#share.upstream;
  }

  /** Whether changes of the store outlast the server. */
  get hasKeeper(): boolean {
    return this.#keeper !== undefined;
  }

  /**
   * Answers a request, and records the exchange. At once where nothing keeps the state; otherwise when
   * what the request changed is kept.
   *
   * @param answer pure; may run again, from another state
   */
  perform(request: RequestRecord, answer: Answer): Outcome | Promise<Outcome> {
    const keeper = this.#keeper;
    if (keeper === undefined || this.#commits === undefined) {
      const { step, exchange } = this.#answered(this.#state, request, answer);
      this.#state = step.state;
      this.#acknowledge(exchange, request);
      return step.outcome;
    }
    let outcome: Outcome | undefined;
    let exchange: Exchange | undefined;
    let waiting: ((outcome: Outcome) => void) | undefined;
    const settle = (settled: Outcome): void => {
      outcome = settled;
      waiting?.(settled);
    };
    let made: Outcome;
    this.#commits.add({
      run: (state) => {
        const answered = this.#answered(state, request, answer);
        ({ exchange } = answered);
        made = answered.step.outcome;
        return { state: answered.step.state, entry: entryOf(keeper, state, answered) };
      },
      kept: () => {
        if (exchange !== undefined) this.#acknowledge(exchange, request);
        settle(made);
      },
      failed: (error) => {
        const refusal = this.#refusal(error);
        // A journal that servers share has only what its log has.
        if (!keeper.isShared) {
          const refused = this.#answered(this.#state, request, (state) => ({
            state,
            outcome: refusal,
          }));
          this.#acknowledge(refused.exchange, request);
        }
        settle(refusal);
      },
    });
    if (outcome !== undefined) return outcome;
    return new Promise((resolve) => {
      waiting = resolve;
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
    return new Promise((resolve, reject) => {
      let edited: EditResult<T>;
      let isChange = false;
      const run = (before: State) => {
        edited = edit(before, thisInstant());
        const { state, result: _, ...effects } = edited;
        isChange = state !== before || effects.clears !== undefined || effects.past !== undefined;
        const isShared = this.#keeper?.isShared === true;
        const change = changeToKeep(before, state, isShared);
        const hasEntry = isShared ? isChange : change !== undefined;
        return { state, entry: hasEntry ? { ...effects, change } : undefined };
      };
      const kept = (): void => {
        const { result, ...effects } = edited;
        this.#takeEffects(effects);
        if (isChange) this.#evidence.noteChange();
        resolve(result);
      };
      if (this.#commits !== undefined) this.#commits.add({ run, kept, failed: reject });
      else {
        try {
          this.#state = run(this.#state).state;
          kept();
        } catch (error) {
          reject(error);
        }
      }
    });
  }

  /**
   * Resolves when the state is what is kept, the changes of other servers included. Undefined where
   * only memory keeps the state.
   *
   * @throws NotSavedError if the log cannot be read
   */
  current(): Promise<void> | undefined {
    return this.#commits?.current();
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
    for (const ending of this.#endings ?? []) ending();
    this.#endings = undefined;
  }

  #answered(
    state: State,
    request: RequestRecord,
    answer: Answer,
  ): { readonly step: Step; readonly exchange: Exchange } {
    const now = thisInstant();
    const step = answer(state, now);
    const exchange = exchangeOf(request, step.outcome, {
      world: worldOf(state, now.wall),
      now,
      frozen: state.clock.frozenAt !== undefined,
      evidence: this.#evidence,
      isNext: this.#keeper === undefined,
    });
    return { step, exchange };
  }

  /** Takes an exchange into the evidence, and tells those who observe exchanges. */
  #acknowledge(exchange: Exchange, { receivedAt }: RequestRecord): void {
    const { observers, meter, onFinding } = this.#share;
    const isTimed = this.#state.clock.frozenAt === undefined;
    // Reading the time costs a request up to 3 %, so only observers, such as a log, get it exactly.
    if (isTimed && (observers.size > 0 || this.#keeper !== undefined)) {
      exchange.duration = performance.now() - receivedAt + exchange.delay;
    }
    const { attempt, delay } = exchange;
    if (attempt) attempt.leftAt = performance.timeOrigin + thisInstant().steady + delay;
    const findings = this.#evidence.add(exchange);
    meter?.add(exchange);
    for (const observe of observers) guarded(() => observe(this.name, exchange));
    if (onFinding !== undefined) for (const finding of findings) guarded(() => onFinding(finding));
  }

  #takeEffects({ clears, past }: Effects): void {
    if (past !== undefined) this.#evidence.addPast(new PastEvidence(past));
    if (clears !== undefined) this.#evidence.clear(clears);
  }

  #refusal(error: unknown): Outcome {
    const { code, message } = error instanceof NotSavedError ? error : new NotSavedError(error);
    const grounds = new Grounds(this.#state.settings.choices);
    return { kind: 'reply', reply: errorReply(grounds, code, 503, message), delay: 0 };
  }

  #commitsTo(keeper: Keeper): Commits {
    const sandbox = this;
    const host = {
      get state() {
        return sandbox.#state;
      },
      set state(state) {
        sandbox.#state = state;
      },
      follow: (missed: Missed) => sandbox.#follow(missed),
      settled: () => keeper.settled?.(sandbox.#state, sandbox.#evidence),
    };
    return new Commits(keeper, host, this.#share.logMeter);
  }

  /** Takes over what other servers did. */
  #follow({ snapshot, entries }: Missed): void {
    if (snapshot !== undefined) {
      this.#state = snapshot.state;
      this.#evidence = new Evidence(this.name, this.#share.journal, snapshot.evidence);
    }
    for (const { change, exchange, ...effects } of entries) {
      if (change !== undefined) this.#state = apply(this.#state, change);
      if (exchange !== undefined) this.#evidence.add(exchange);
      else this.#evidence.noteChange();
      this.#takeEffects(effects);
    }
    if (entries.length > 0) this.#keeper?.settled?.(this.#state, this.#evidence);
  }
}

/** Calls an observer. What it throws becomes a warning, and the client has its reply all the same. */
function guarded(tell: () => void): void {
  try {
    tell();
  } catch (error) {
    warn(error);
  }
}

/** What a keeper takes of an answered request. */
function entryOf(
  keeper: Keeper,
  before: State,
  { step, exchange }: { readonly step: Step; readonly exchange: Exchange },
): Entry | undefined {
  const change = changeToKeep(before, step.state, keeper.isShared);
  return keeper.isShared ? { change, exchange } : change && { change };
}

/** What a keeper takes of the change between two states. */
function changeToKeep(before: State, after: State, isShared: boolean): Change | undefined {
  const change = diff(before, after);
  return isShared ? change : change?.store && { store: change.store };
}
