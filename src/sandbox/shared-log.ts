import type { Appended, ChangeLog, Missed, Position } from '../store/log/change-log.ts';
import { LogGoneError, type RedisLog } from '../store/log/redis-log.ts';

/** Asks for the snapshot, which a server needs before it knows anything. */
const UNKNOWN: Position = -1;

/** What the log of one sandbox needs from its fleet. */
export interface SharedLogParts<Entry, Snapshot> {
  /** The incarnation that the sandbox's name has; undefined if it has none. */
  readonly find: () => Promise<string | undefined>;
  /** Creates one in place of a lost one, unless another server does. Undefined if this log must not. */
  readonly create: ((lost: string) => Promise<Created>) | undefined;
  /** The state of a new sandbox. */
  readonly initial: () => Snapshot;
  readonly logOf: (incarnation: string) => RedisLog<Entry, Snapshot>;
  /** Called when the sandbox turns out to be deleted. */
  readonly onGone: () => void;
}

/** The result of creating a sandbox. */
export interface Created {
  readonly incarnation: string;
  /** False if another server had created it. */
  readonly isNew: boolean;
}

/**
 * The log of whatever sandbox has a name in the fleet, found or created when first needed. Its first
 * append always misses something: the state.
 */
export class SharedLog<Entry, Snapshot> implements ChangeLog<Entry, Snapshot> {
  readonly isShared = true;
  readonly #parts: SharedLogParts<Entry, Snapshot>;
  #log: RedisLog<Entry, Snapshot> | undefined;
  #incarnation = '';

  constructor(parts: SharedLogParts<Entry, Snapshot>) {
    this.#parts = parts;
  }

  get isFoldDue(): boolean {
    return this.#log?.isFoldDue === true;
  }

  /** @throws LogError */
  async append(after: Position, entries: readonly Entry[]): Promise<Appended<Entry, Snapshot>> {
    try {
      if (this.#log !== undefined) return await this.#log.append(after, entries);
    } catch (error) {
      this.#lose(error);
    }
    const missed = await this.#enter(true);
    if (missed !== undefined) return { kept: false, missed };
    return { kept: true, position: after + entries.length };
  }

  /**
   * Creates no sandbox: whoever listens to one while it is deleted must not bring it back.
   *
   * @throws LogError
   */
  async read(after: Position): Promise<Missed<Entry, Snapshot>> {
    try {
      if (this.#log !== undefined) return await this.#log.read(after);
    } catch (error) {
      this.#lose(error);
    }
    const missed = await this.#enter(false);
    return missed ?? { snapshot: this.#parts.initial(), entries: [], position: 0 };
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
  async #enter(mayCreate: boolean): Promise<Missed<Entry, Snapshot> | undefined> {
    for (;;) {
      const log = (await this.#find()) ?? (mayCreate ? await this.#create() : undefined);
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
    const found = await this.#parts.find();
    if (found === undefined || found === this.#incarnation) return undefined;
    this.#incarnation = found;
    return this.#parts.logOf(found);
  }

  async #create(): Promise<RedisLog<Entry, Snapshot> | undefined> {
    const { create, logOf } = this.#parts;
    if (create === undefined) return undefined;
    const { incarnation } = await create(this.#incarnation);
    this.#incarnation = incarnation;
    return logOf(incarnation);
  }
}
