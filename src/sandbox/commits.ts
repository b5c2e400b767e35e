import { setImmediate } from 'node:timers/promises';
import type { LogMeter } from '../evidence/meter.ts';
import { apply } from './change.ts';
import { type Entry, type Keeper, type MissedEntries, NotSavedError } from './keeper.ts';
import type { Recorder } from './recorder.ts';
import type { State } from './state.ts';

/** What a job made of a state. */
interface JobResult<T> {
  readonly state: State;
  /** What to keep of it; undefined for nothing. */
  readonly entry: Entry | undefined;
  /** Called when it is kept and the state is acknowledged. */
  readonly kept: () => T;
}

/** Work on a state. */
export interface Job<T> {
  /** Pure; runs again, from another state, if other jobs or servers were faster. */
  readonly run: (state: State) => JobResult<T>;
  /** Answers in place of `kept`, given a NotSavedError, or what `run` has thrown. */
  readonly failed: (error: unknown) => T | Promise<T>;
}

/** A job whose caller waits. */
interface PendingJob {
  readonly run: Job<void>['run'];
  readonly failed: (error: unknown) => void;
}

/** A caller that waits until the acknowledged state is current. */
interface Waiter {
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/**
 * The acknowledged state of a sandbox. Does jobs on it in order, and has a keeper, if
 * there is one, keep what they made before anybody hears of it. Jobs that arrive while the keeper is
 * busy share the next append.
 */
export class Commits {
  readonly keeper: Keeper | undefined;
  state: State;
  readonly #recorder: Recorder;
  readonly #meter: LogMeter | undefined;
  #jobs: PendingJob[] = [];
  #waiters: Waiter[] = [];
  #isWorking = false;

  constructor(
    state: State,
    recorder: Recorder,
    keeper: Keeper | undefined,
    meter: LogMeter | undefined,
  ) {
    this.state = state;
    this.#recorder = recorder;
    this.keeper = keeper;
    this.#meter = meter;
  }

  /** Does a job: at once if it leaves nothing to keep, else when what it made is kept. */
  add<T>(job: Job<T>): T | Promise<T> {
    const before = this.state;
    let first: JobResult<T> | undefined;
    if (!this.#isWorking && this.keeper?.isShared !== true) {
      try {
        first = job.run(before);
      } catch (error) {
        return job.failed(error);
      }
      if (first.entry === undefined) {
        this.state = first.state;
        return first.kept();
      }
    }
    return new Promise((resolve) => {
      const run = (state: State): JobResult<void> => {
        const made = first !== undefined && state === before ? first : job.run(state);
        return { ...made, kept: () => resolve(made.kept()) };
      };
      this.#jobs.push({ run, failed: (error) => resolve(job.failed(error)) });
      this.#start();
    });
  }

  /**
   * Resolves when the state has all that the log had taken before. Undefined where only memory keeps it.
   *
   * @throws NotSavedError if the log cannot be read
   */
  current(): Promise<void> | undefined {
    if (this.keeper === undefined) return undefined;
    return new Promise((resolve, reject) => {
      this.#waiters.push({ resolve, reject });
      this.#start();
    });
  }

  #start(): void {
    if (this.#isWorking || this.keeper === undefined) return;
    this.#isWorking = true;
    void this.#work(this.keeper);
  }

  async #work(keeper: Keeper): Promise<void> {
    for (;;) {
      // Requests that arrive together share an append.
      await setImmediate();
      const jobs = this.#jobs.splice(0);
      const waiters = this.#waiters.splice(0);
      if (jobs.length === 0 && waiters.length === 0) break;
      try {
        if (jobs.length > 0) await this.#keep(keeper, jobs);
        else this.#follow(keeper, await keeper.read());
        for (const { resolve } of waiters) resolve();
      } catch (error) {
        this.#meter?.fail();
        const refusal = new NotSavedError(error);
        for (const job of jobs) {
          // Without other servers, a job that leaves nothing to keep does not depend on the log.
          const made = keeper.isShared ? undefined : job.run(this.state);
          if (made === undefined || made.entry !== undefined) job.failed(refusal);
          else {
            this.state = made.state;
            made.kept();
          }
        }
        for (const { resolve, reject } of waiters) {
          if (keeper.isShared) reject(refusal);
          else resolve();
        }
      }
    }
    this.#isWorking = false;
  }

  /** Does jobs and keeps what they made, again and again until no other server was faster. */
  async #keep(keeper: Keeper, jobs: PendingJob[]): Promise<void> {
    for (;;) {
      const { state, entries, made } = this.#run(jobs);
      if (jobs.length === 0) return;
      const startedAt = performance.now();
      const isAsked = entries.length > 0 || keeper.isShared;
      const answer = isAsked ? await keeper.append(entries, state) : 'kept';
      const isKept = answer === 'kept';
      if (isAsked) this.#meter?.take(performance.now() - startedAt, entries.length, isKept);
      if (isKept) {
        jobs.length = 0;
        this.state = state;
        for (const { kept } of made) kept();
        keeper.settled?.(state, this.#recorder.evidence);
        return;
      }
      this.#meter?.follow(answer.entries.length);
      this.#follow(keeper, answer);
    }
  }

  /** Runs jobs one after the other on the acknowledged state. Removes those that fail. */
  #run(jobs: PendingJob[]) {
    let { state } = this;
    const made: JobResult<void>[] = [];
    for (const job of jobs.splice(0)) {
      try {
        const it = job.run(state);
        ({ state } = it);
        made.push(it);
        jobs.push(job);
      } catch (error) {
        job.failed(error);
      }
    }
    return { state, entries: made.flatMap(({ entry }) => entry ?? []), made };
  }

  /** Takes over what other servers did. */
  #follow(keeper: Keeper, { snapshot, entries }: MissedEntries): void {
    if (snapshot !== undefined) {
      this.state = snapshot.state;
      this.#recorder.restore(snapshot.evidence);
    }
    for (const { change, exchange, ...effects } of entries) {
      if (change !== undefined) this.state = apply(this.state, change);
      if (exchange !== undefined) this.#recorder.follow(exchange);
      else {
        this.#recorder.evidence.noteChange();
        this.#recorder.take(effects, false);
      }
    }
    if (entries.length > 0) keeper.settled?.(this.state, this.#recorder.evidence);
  }
}
