import { setImmediate } from 'node:timers/promises';
import type { LogMeter } from '../evidence/meter.ts';
import { type Entry, type Keeper, type Missed, NotSavedError } from './keeper.ts';
import type { State } from './state.ts';

/** What a piece of work made of a state. */
interface JobResult {
  readonly state: State;
  /** What to keep of it; undefined for nothing. */
  readonly entry: Entry | undefined;
}

/** Work on a state. */
export interface Job {
  /** Runs again, from another state, if other servers were faster. */
  readonly run: (state: State) => JobResult;
  /** Called when what the last run made is kept. */
  readonly kept: () => void;
  /** Called instead of `kept` with a NotSavedError, or with what `run` has thrown. */
  readonly failed: (error: unknown) => void;
}

/** The sandbox whose state is kept. */
interface Host {
  /** The acknowledged state. */
  state: State;
  follow(missed: Missed): void;
  /** Called when the state is acknowledged. */
  settled(): void;
}

/** A caller that waits until the acknowledged state is current. */
interface Waiter {
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Does jobs on the state of a sandbox, in order, and keeps what they made in a log before anybody hears
 * of it. Jobs that arrive while the log is busy share the next append.
 */
export class Commits {
  readonly #keeper: Keeper;
  readonly #host: Host;
  readonly #meter: LogMeter | undefined;
  #jobs: Job[] = [];
  #waiters: Waiter[] = [];
  #isWorking = false;

  constructor(keeper: Keeper, host: Host, meter: LogMeter | undefined) {
    this.#keeper = keeper;
    this.#host = host;
    this.#meter = meter;
  }

  add(job: Job): void {
    if (!this.#keeper.isShared && !this.#isWorking && this.#runAlone(job)) return;
    this.#jobs.push(job);
    this.#start();
  }

  /**
   * Resolves when the state is current: when it has all that the log had taken before.
   *
   * @throws NotSavedError if the log cannot be read
   */
  current(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiters.push({ resolve, reject });
      this.#start();
    });
  }

  /** Does a job that leaves nothing to keep, as most do. False if there is something to keep. */
  #runAlone(job: Job): boolean {
    let made: JobResult;
    try {
      made = job.run(this.#host.state);
    } catch (error) {
      job.failed(error);
      return true;
    }
    if (made.entry !== undefined) return false;
    this.#host.state = made.state;
    job.kept();
    return true;
  }

  #start(): void {
    if (this.#isWorking) return;
    this.#isWorking = true;
    void this.#work();
  }

  async #work(): Promise<void> {
    for (;;) {
      // Requests that arrive together share an append.
      await setImmediate();
      const jobs = this.#jobs.splice(0);
      const waiters = this.#waiters.splice(0);
      if (jobs.length === 0 && waiters.length === 0) break;
      try {
        if (jobs.length > 0) await this.#keep(jobs);
        else this.#host.follow(await this.#keeper.read());
        for (const { resolve } of waiters) resolve();
      } catch (error) {
        this.#meter?.fail();
        const refusal = new NotSavedError(error);
        this.#fail(jobs, refusal);
        // Without other servers, the acknowledged state is current all the same.
        for (const { resolve, reject } of waiters) {
          if (this.#keeper.isShared) reject(refusal);
          else resolve();
        }
      }
    }
    this.#isWorking = false;
  }

  /** Runs jobs one after the other and keeps what they made, again and again until no other was faster. */
  async #keep(jobs: Job[]): Promise<void> {
    for (;;) {
      const { state, entries } = this.#run(jobs);
      if (jobs.length === 0) return;
      const startedAt = performance.now();
      const isAsked = entries.length > 0 || this.#keeper.isShared;
      const answer = isAsked ? await this.#keeper.append(entries, state) : 'kept';
      const isKept = answer === 'kept';
      if (isAsked) this.#meter?.take(performance.now() - startedAt, entries.length, isKept);
      if (isKept) {
        this.#host.state = state;
        for (const job of jobs.splice(0)) job.kept();
        this.#host.settled();
        return;
      }
      this.#meter?.follow(answer.entries.length);
      this.#host.follow(answer);
    }
  }

  /** Runs jobs on the acknowledged state. Removes those that fail. */
  #run(jobs: Job[]): { readonly state: State; readonly entries: readonly Entry[] } {
    let { state } = this.#host;
    const entries: Entry[] = [];
    for (const job of jobs.splice(0)) {
      try {
        const made = job.run(state);
        state = made.state;
        if (made.entry !== undefined) entries.push(made.entry);
        jobs.push(job);
      } catch (error) {
        job.failed(error);
      }
    }
    return { state, entries };
  }

  /** Without other servers, a job that leaves nothing to keep does not depend on the log. */
  #fail(jobs: Job[], refusal: NotSavedError): void {
    for (const job of jobs.splice(0)) {
      if (this.#keeper.isShared || !this.#runAlone(job)) job.failed(refusal);
    }
  }
}
