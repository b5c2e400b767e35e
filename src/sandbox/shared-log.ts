import type { Appended, ChangeLog, Missed, Position } from '../store/log/change-log.ts';
import type { RedisDirectory } from '../store/log/redis-directory.ts';
import { LogGoneError, type RedisLog } from '../store/log/redis-log.ts';

/** Asks for the snapshot, which a server needs before it knows anything. */
const UNKNOWN: Position = -1;

/** The fleet has as many sandboxes as it may have. */
export class SandboxLimitError extends Error {
  override readonly name = 'SandboxLimitError';
}

/** What the log of one sandbox needs of its fleet. */
export interface SharedLogParts<Entry, Snapshot> {
  readonly name: string;
  readonly directory: RedisDirectory;
  readonly logOf: (incarnation: string) => RedisLog<Entry, Snapshot>;
  /** The state of a new sandbox; undefined if this log must not create one. */
  readonly initial: (() => Snapshot) | undefined;
  /** Called when the sandbox turns out to be deleted; its name may get a new one. */
  readonly onGone: () => void;
}

/**
 * The log of whatever sandbox has a name in the fleet, found or created when first needed. Its first
 * append always misses something: the state.
 */
export class SharedLog<Entry, Snapshot> implements ChangeLog<Entry, Snapshot> {
  readonly #parts: SharedLogParts<Entry, Snapshot>;
  #log: RedisLog<Entry, Snapshot> | undefined;
  #incarnation = '';

  constructor(parts: SharedLogParts<Entry, Snapshot>) {
    this.#parts = parts;
  }

  get isFoldDue(): boolean {
    return this.#log?.isFoldDue === true;
  }

  /** @throws RedisError, or SandboxLimitError */
  async append(after: Position, entries: readonly Entry[]): Promise<Appended<Entry, Snapshot>> {
    try {
      if (this.#log !== undefined) return await this.#log.append(after, entries);
    } catch (error) {
      this.#lose(error);
    }
    const missed = await this.#enter();
    if (missed !== undefined) return { kept: false, missed };
    return { kept: true, position: after + entries.length };
  }

  /** @throws RedisError, or SandboxLimitError */
  async read(after: Position): Promise<Missed<Entry, Snapshot>> {
    try {
      if (this.#log !== undefined) return await this.#log.read(after);
    } catch (error) {
      this.#lose(error);
    }
    return (await this.#enter()) ?? { entries: [], position: after };
  }

  async fold(at: Position, snapshot: Snapshot): Promise<void> {
    await this.#log?.fold(at, snapshot);
  }

  async close(): Promise<void> {}

  #lose(error: unknown): void {
    if (!(error instanceof LogGoneError)) throw error;
    this.#log = undefined;
    this.#parts.onGone();
  }

  /** Finds or creates the sandbox, and reads its state; undefined if there is none. */
  async #enter(): Promise<Missed<Entry, Snapshot> | undefined> {
    for (;;) {
      const log = (await this.#find()) ?? (await this.#create());
      if (log === undefined) return undefined;
      try {
        const missed = await log.read(UNKNOWN);
        this.#log = log;
        return missed;
      } catch (error) {
        // It was deleted since.
        if (!(error instanceof LogGoneError)) throw error;
      }
    }
  }

  async #find(): Promise<RedisLog<Entry, Snapshot> | undefined> {
    const { name, directory, logOf } = this.#parts;
    const found = await directory.find(name);
    if (found === undefined || found === this.#incarnation) return undefined;
    this.#incarnation = found;
    return logOf(found);
  }

  async #create(): Promise<RedisLog<Entry, Snapshot> | undefined> {
    const { name, directory, logOf, initial } = this.#parts;
    if (initial === undefined) return undefined;
    const fresh = `${name}~${crypto.randomUUID()}`;
    const log = logOf(fresh);
    // Before the name: whoever finds the name finds the log.
    await log.create(initial());
    const entered = await directory.enter(name, fresh, this.#incarnation);
    if (entered !== fresh) await log.remove();
    if (entered === undefined) throw new SandboxLimitError(name);
    this.#incarnation = entered;
    return entered === fresh ? log : logOf(entered);
  }
}
