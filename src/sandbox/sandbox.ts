import { warn } from '../error-code.ts';
import type { Exchange } from '../evidence/exchange.ts';
import type { OnFinding } from '../evidence/findings.ts';
import type { ExchangeListener } from '../evidence/journal.ts';
import { exchangeOf } from '../evidence/make-exchange.ts';
import type { LogMeter, Meter } from '../evidence/meter.ts';
import type { RequestRecord } from '../evidence/request-record.ts';
import { Evidence, type EvidenceState } from '../evidence/sandbox-evidence.ts';
import type { Outcome } from '../scenario/rules.ts';
import type { Start } from '../scenario/sandbox-start.ts';
import { type Instant, thisInstant } from '../service/clock.ts';
import { errorReply, Grounds } from '../service/reply.ts';
import { type Change, diff } from './change.ts';
import { Commits } from './commits.ts';
import { type Effects, type Keeper, NotSavedError } from './keeper.ts';
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
  readonly #commits: Commits;
  // Created on first use: there can be many sandboxes, and most have none.
  #endings: Set<() => void> | undefined;

  /** @param keeper what keeps the state; undefined if only memory does */
  constructor(name: string, start: Start, share: SandboxShare, keeper?: Keeper) {
    this.name = name;
    this.origin = start;
    this.#share = share;
    const state = initialState(start, share.upstream, thisInstant().wall);
    const evidenceOf = (it?: EvidenceState) => new Evidence(name, share.journal, it);
    this.#commits = new Commits(state, evidenceOf, keeper, share.logMeter);
  }

  /** The acknowledged state. */
  get state(): State {
    return this.#commits.state;
  }

  get evidence(): Evidence {
    return this.#commits.evidence;
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
    const { keeper } = this.#commits;
    const done = this.#commits.add({
      run: (before) => {
        const { state, result, ...effects } = edit(before, thisInstant());
        const isChange =
          state !== before || effects.clears !== undefined || effects.past !== undefined;
        const change = changeToKeep(before, state, keeper);
        const hasEntry = keeper?.isShared ? isChange : change !== undefined;
        return {
          state,
          entry: hasEntry ? { ...effects, change } : undefined,
          kept: () => {
            this.#commits.takeEffects(effects);
            if (isChange) this.evidence.noteChange();
            return result;
          },
        };
      },
      failed: (error): Promise<T> => Promise.reject(error),
    });
    return Promise.resolve(done);
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

  /** Takes an exchange into the evidence, and tells those who observe exchanges. */
  #acknowledge(exchange: Exchange, { receivedAt }: RequestRecord): void {
    const { observers, meter, onFinding } = this.#share;
    const isTimed = this.state.clock.frozenAt === undefined;
    // Reading the time costs a request up to 3 %, so only observers, such as a log, get it exactly.
    if (isTimed && (observers.size > 0 || this.hasKeeper)) {
      exchange.duration = performance.now() - receivedAt + exchange.delay;
    }
    const { attempt, delay } = exchange;
    if (attempt) attempt.leftAt = performance.timeOrigin + thisInstant().steady + delay;
    const findings = this.evidence.add(exchange);
    meter?.add(exchange);
    for (const observe of observers) guarded(() => observe(this.name, exchange));
    if (onFinding !== undefined) for (const finding of findings) guarded(() => onFinding(finding));
  }

  #refusal(error: unknown): Outcome {
    const { code, message } = error instanceof NotSavedError ? error : new NotSavedError(error);
    const grounds = new Grounds(this.state.settings.choices);
    return { kind: 'reply', reply: errorReply(grounds, code, 503, message), delay: 0 };
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

/** What a keeper takes of the change between two states. */
function changeToKeep(before: State, after: State, keeper: Keeper | undefined): Change | undefined {
  if (keeper === undefined) return undefined;
  const change = diff(before, after);
  return keeper.isShared ? change : change?.store && { store: change.store };
}
