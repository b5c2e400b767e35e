import { setImmediate } from 'node:timers/promises';
import type { LogMeter } from '../evidence/meter.ts';
import type { EvidenceEntry } from '../evidence/sandbox-evidence.ts';
import { apply, diff } from './change.ts';
import { type Keeper, keeperErrorOf, type LogEntry, type MissedEntries } from './keeper.ts';
import type { Recorder } from './recorder.ts';
import type { State } from './state.ts';

/** What a request does in a sandbox. Pure: it runs again, from another state, if others were faster. */
type Job<T> = (state: State) => Effect<T>;

/** What a request makes of a state and of the evidence. */
export interface Effect<T> extends EvidenceEntry {
  readonly state: State;
  readonly result: T;
  /** When the request was received, by `performance.now()`, if its duration is to be exact. */
  readonly receivedAt?: number | undefined;
}

/** A job whose caller waits. */
interface PendingJob {
  readonly run: (state: State) => FinishedJob;
  readonly fail: (error: unknown) => void;
}

interface FinishedJob {
  readonly state: State;
  /** What a log takes of it; undefined for nothing. */
  readonly entry: LogEntry | undefined;
  readonly acknowledge: () => void;
}

/**
 * The acknowledged state of a sandbox. Does jobs on it in order, and has a keeper, if there is one,
 * persist what they changed before anyone sees it. Jobs that arrive while the keeper is busy share the
 * next append.
 */
export class Commits {
  readonly keeper: Keeper | undefined;
  #state: State;
  readonly #recorder: Recorder;
  readonly #meter: LogMeter;
  #jobs = new Set<PendingJob>();
  #isWorking = false;

  constructor(state: State, recorder: Recorder, keeper: Keeper | undefined, meter: LogMeter) {
    this.#state = state;
    this.#recorder = recorder;
    this.keeper = keeper;
    this.#meter = meter;
  }

  get state(): State {
    return this.#state;
  }

  /**
   * Does a job: at once if no other server can be faster and it leaves nothing to keep, else when what
   * it did is kept.
   *
   * @param refuse answers if it cannot be kept, given a KeeperError or what the job threw; else that
   *   is thrown
   */
  add<T>(job: Job<T>, refuse?: (error: unknown) => T): T | Promise<T> {
    const { keeper } = this;
    if (keeper === undefined) return this.#acknowledge(job(this.#state));
    const finish = (state: State) => {
      const effect = job(state);
      return { effect, entry: entryOf(state, effect, keeper) };
    };
    const before = this.#state;
    const first = keeper.isShared || this.#isWorking ? undefined : finish(before);
    if (first !== undefined && first.entry === undefined) return this.#acknowledge(first.effect);
    return new Promise((resolve, reject) => {
      const run = (state: State): FinishedJob => {
        const { effect, entry } = first !== undefined && state === before ? first : finish(state);
        return {
          state: effect.state,
          entry,
          acknowledge: () => resolve(this.#acknowledge(effect)),
        };
      };
      const fail = (error: unknown): void => (refuse ? resolve(refuse(error)) : reject(error));
      this.#jobs.add({ run, fail });
      if (!this.#isWorking) void this.#work(keeper);
    });
  }

  #acknowledge<T>(effect: Effect<T>): T {
    const before = this.#state;
    this.#state = effect.state;
    if (isChange(before, effect)) this.#recorder.take(effect, effect.receivedAt);
    return effect.result;
  }

  async #work(keeper: Keeper): Promise<void> {
    this.#isWorking = true;
    for (;;) {
      // Requests that arrive together share an append.
      await setImmediate();
      const jobs = this.#jobs;
      if (jobs.size === 0) break;
      this.#jobs = new Set();
      try {
        await this.#keep(keeper, jobs);
      } catch (error) {
        this.#meter.failures += 1;
        const refusal = keeperErrorOf(error);
        for (const { run, fail } of jobs) {
          // Without other servers, a job that leaves nothing to keep does not depend on the log.
          const job = keeper.isShared ? undefined : run(this.#state);
          if (job === undefined || job.entry !== undefined) fail(refusal);
          else job.acknowledge();
        }
      }
    }
    this.#isWorking = false;
  }

  /** Does jobs and keeps what they did, again and again until no other server was faster. */
  async #keep(keeper: Keeper, jobs: Set<PendingJob>): Promise<void> {
    for (let isCurrent = !keeper.isShared; ; isCurrent = true) {
      const { state, finished } = this.#run(jobs);
      const entries = finished.flatMap(({ entry }) => entry ?? []);
      const read = () => (isCurrent ? 'kept' : keeper.read());
      const answer = await (entries.length > 0 ? this.#append(keeper, entries, state) : read());
      if (answer === 'kept') {
        jobs.clear();
        for (const { acknowledge } of finished) acknowledge();
        keeper.compact?.(state, this.#recorder.evidence);
        return;
      }
      this.#follow(keeper, answer);
    }
  }

  /** Runs jobs one after the other on the acknowledged state. Removes those that fail. */
  #run(jobs: Set<PendingJob>) {
    let state = this.#state;
    const finished: FinishedJob[] = [];
    for (const job of jobs) {
      try {
        const it = job.run(state);
        ({ state } = it);
        finished.push(it);
      } catch (error) {
        jobs.delete(job);
        job.fail(error);
      }
    }
    return { state, finished };
  }

  async #append(keeper: Keeper, entries: readonly LogEntry[], state: State) {
    const startedAt = performance.now();
    const answer = await keeper.append(entries, state);
    if (answer === 'kept') this.#meter.take(performance.now() - startedAt, entries.length);
    else this.#meter.conflicts += 1;
    return answer;
  }

  /** Takes over what other servers did. */
  #follow(keeper: Keeper, { snapshot, entries }: MissedEntries): void {
    if (snapshot !== undefined) {
      this.#state = snapshot.state;
      this.#recorder.restore(snapshot.evidence);
    }
    for (const { change, ...entry } of entries) {
      if (change !== undefined) this.#state = apply(this.#state, change);
      this.#recorder.follow(entry);
    }
    this.#meter.behind = entries.length;
    if (entries.length > 0) keeper.compact?.(this.#state, this.#recorder.evidence);
  }
}

/** Whether a job did anything: to look at a sandbox is no use of it. */
function isChange(before: State, { state, exchange, clears, past, holds }: Effect<unknown>) {
  return exchange !== undefined || state !== before || (clears ?? past ?? holds) !== undefined;
}

/** What a keeper takes of a job. */
function entryOf(
  before: State,
  effect: Effect<unknown>,
  { isShared }: Keeper,
): LogEntry | undefined {
  if (!isChange(before, effect)) return undefined;
  const { exchange, clears, past, holds } = effect;
  const change = diff(before, effect.state);
  if (isShared) return { change, exchange, clears, past, holds };
  return change?.store && { change: { store: change.store } };
}
