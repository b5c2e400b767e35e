import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import type { LogMeter } from '../evidence/meter.ts';
import { type ChangeLog, LogError, type Missed, type Position } from '../store/log/change-log.ts';

/** A change that could not be kept and was undone. */
export class NotSavedError extends Error {
  override readonly name = 'NotSavedError';
  /** The code of the reply to the request for the change. */
  readonly code: LogError['code'];

  constructor(cause: unknown) {
    const why = cause instanceof Error ? cause.message : String(cause);
    const { code, maybeDone } = cause instanceof LogError ? cause : new LogError(why);
    const isPlain = code === 'not_saved' && !maybeDone;
    super(isPlain ? `the change was not made: ${why}` : why, { cause });
    this.code = code;
  }
}

/** What a piece of work changed. */
export interface Made<Change> {
  /** Undefined if there is nothing to keep. */
  readonly change: Change | undefined;
  undo(): void;
}

/** A state in memory that a log keeps. */
export interface Replica<Change, Snapshot> {
  /** Runs work. If it throws, nothing is changed. */
  record(work: () => void): Made<Change>;
  /** Applies a change that another copy of the state has recorded. */
  apply(change: Change): void;
  /** The whole state. It costs the same whatever its size. */
  snapshot(): Snapshot;
  /** @param earlier the latest changes that the snapshot includes, as far as the log still has them */
  restore(snapshot: Snapshot, earlier: readonly Change[]): void;
}

/** Work on a state. */
export interface Job {
  /** Does the work at once. Runs again if the log has taken other changes before it. */
  readonly run: () => void;
  /** Called when what the last run changed is kept. */
  readonly kept: () => void;
  /** Called instead of `kept` with a NotSavedError, or with what `run` has thrown. */
  readonly failed: (error: unknown) => void;
}

/** A caller that waits until the state in memory is current. */
interface Waiter {
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

interface Ran<Change> {
  readonly job: Job;
  readonly made: Made<Change>;
}

/** The longest wait for the turn of another server, in milliseconds. Doubles with each in a row. */
const FIRST_WAIT = 1;
const MOST_DOUBLINGS = 3;

/**
 * Does jobs on a state in memory, in order, and keeps their changes in a log before anybody hears of
 * them. Jobs that arrive while the log is busy wait, and share the next append. So no job sees a state
 * that is not kept, except for changes that are kept together with its own.
 */
export class Commits<Change, Snapshot> {
  readonly #log: ChangeLog<Change, Snapshot>;
  readonly #replica: Replica<Change, Snapshot>;
  readonly #meter: LogMeter | undefined;
  /** How far the state in memory has followed the log. */
  #position: Position;
  /** Jobs whose changes are in memory, but not in the log yet. */
  #ran: Ran<Change>[] = [];
  /** Jobs that wait for the log. */
  #waiting: Job[] = [];
  #waiters: Waiter[] = [];
  #state: 'idle' | 'gathering' | 'busy' = 'idle';
  #folding = false;

  /** @param position of the state in memory */
  constructor(
    log: ChangeLog<Change, Snapshot>,
    replica: Replica<Change, Snapshot>,
    position: Position,
    meter?: LogMeter,
  ) {
    this.#log = log;
    this.#replica = replica;
    this.#meter = meter;
    this.#position = position;
  }

  add(job: Job): void {
    if (this.#state === 'busy') {
      this.#waiting.push(job);
      return;
    }
    this.#run(job);
    if (this.#ran.length > 0) this.#start();
  }

  /**
   * Resolves when the state in memory is kept, and has every change that the log had taken before.
   *
   * @throws NotSavedError if the log cannot be read
   */
  current(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiters.push({ resolve, reject });
      this.#start();
    });
  }

  #start(): void {
    if (this.#state !== 'idle') return;
    this.#state = 'gathering';
    void this.#work();
  }

  async #work(): Promise<void> {
    for (;;) {
      // Requests that arrive together are run in this turn, and share an append. Whoever was told of
      // the last one reads the state before it changes again.
      await setImmediate();
      this.#state = 'busy';
      this.#fold();
      for (const job of this.#waiting.splice(0)) this.#run(job);
      const waiters = this.#waiters.splice(0);
      if (this.#ran.length === 0 && waiters.length === 0) break;
      try {
        if (this.#ran.length > 0) await this.#keep();
        else this.#follow(await this.#log.read(this.#position));
        for (const { resolve } of waiters) resolve();
      } catch (error) {
        this.#refuse(new NotSavedError(error), waiters);
      }
    }
    this.#state = 'idle';
  }

  /** Undoes what is not kept. Without other servers, memory is current then, so that reads go on. */
  #refuse(refusal: NotSavedError, waiters: readonly Waiter[]): void {
    this.#meter?.fail();
    const isShared = this.#log.isShared === true;
    const again: Job[] = [];
    for (const { job, made } of this.#undone()) {
      if (isShared || made.change !== undefined) job.failed(refusal);
      else again.push(job);
    }
    this.#waiting.unshift(...again);
    for (const { resolve, reject } of waiters) isShared ? reject(refusal) : resolve();
  }

  #run(job: Job): void {
    let made: Made<Change>;
    try {
      made = this.#replica.record(job.run);
    } catch (error) {
      job.failed(error);
      return;
    }
    // In a shared log, others may have changed what the job has read.
    const isKept = made.change === undefined && this.#log.isShared !== true;
    if (isKept && this.#ran.length === 0) job.kept();
    else this.#ran.push({ job, made });
  }

  /** Keeps the changes of all jobs that ran, or of those that run again after a conflict. */
  async #keep(): Promise<void> {
    for (let conflicts = 0; this.#ran.length > 0; conflicts += 1) {
      const changes = this.#ran.flatMap(({ made: { change } }) => change ?? []);
      const startedAt = performance.now();
      const appended = await this.#log.append(this.#position, changes);
      this.#meter?.take(performance.now() - startedAt, changes.length, appended.kept);
      if (appended.kept) {
        this.#position = appended.position;
        for (const { job } of this.#ran.splice(0)) job.kept();
        return;
      }
      const again = this.#undone().map(({ job }) => job);
      this.#follow(appended.missed);
      try {
        if (isBusy(appended.missed)) await this.#backOff(conflicts);
      } catch (error) {
        const refusal = new NotSavedError(error);
        for (const job of again) job.failed(refusal);
        throw error;
      }
      for (const job of [...again, ...this.#waiting.splice(0)]) this.#run(job);
    }
  }

  /** Lets others go first for a while, then catches up with them. */
  async #backOff(conflicts: number): Promise<void> {
    const longest = FIRST_WAIT * 2 ** Math.min(conflicts, MOST_DOUBLINGS);
    await sleep(Math.random() * longest);
    this.#follow(await this.#log.read(this.#position));
  }

  /** Undoes the changes that are not kept, the latest first. Returns what had run. */
  #undone(): readonly Ran<Change>[] {
    const ran = this.#ran;
    this.#ran = [];
    for (const { made } of ran.toReversed()) made.undo();
    return ran;
  }

  #follow({ snapshot, earlier = [], entries, position }: Missed<Change, Snapshot>): void {
    if (snapshot !== undefined) this.#replica.restore(snapshot, earlier);
    for (const change of entries) this.#replica.apply(change);
    this.#meter?.follow(position - this.#position);
    this.#position = position;
  }

  /** Folds the log in the background. After a failure, the log tries again later. */
  #fold(): void {
    if (this.#folding || !this.#log.isFoldDue) return;
    this.#folding = true;
    const folded = (): void => {
      this.#folding = false;
    };
    this.#log.fold(this.#position, this.#replica.snapshot()).then(folded, folded);
  }
}

/** Whether the log took nothing else and only waits for the turn of another server. */
function isBusy({ snapshot, entries }: Missed<unknown, unknown>): boolean {
  return snapshot === undefined && entries.length === 0;
}
