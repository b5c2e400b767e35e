import { accessSync, constants, existsSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { STORE_LIMIT } from '../../read-text.ts';
import { Collection } from '../collection.ts';
import {
  type Appended,
  type ChangeLog,
  LogError,
  type Missed,
  type Position,
} from '../log/change-log.ts';
import type { RecordedStore } from '../log/recorded-store.ts';
import type { CollectionChange } from '../log/store-change.ts';
import { forkStore, type Store } from '../store.ts';
import type { FileLock } from './file-lock.ts';
import { stateOf } from './file-state.ts';
import { fingerprintOf, isSame } from './fingerprint.ts';
import { LogFile } from './log-file.ts';
import { entriesLine, type Mark, markLine, type StoreEntry } from './log-lines.ts';
import { draftOf, type StoreDraft } from './store-json.ts';
import { logPathOf, readPair, type StoredPair } from './stored-pair.ts';
import { syncFolder } from './sync-folder.ts';
import { unwritable } from './unwritable.ts';

/** The state that the file holds. */
export interface StoreSnapshot {
  readonly store: Store;
}

export interface FileLogParts {
  /** The file's name in messages. */
  readonly path: string;
  /** Its path with links resolved. */
  readonly real: string;
  readonly lock: FileLock;
  /** The state that the log keeps. Callers change it before they append. */
  readonly store: RecordedStore;
  readonly position: Position;
  /** The content of the file, and its position. */
  readonly mark: Mark;
  readonly onNotice: (message: string) => void;
}

/** A log is folded when it is longer than both the file and this many bytes. */
const SHORTEST_FOLD = 4 * 1024 * 1024;

/** Milliseconds from a fold that failed to the next one. */
const PAUSE = 30_000;

/** The most records that a line of the log sets and removes. A larger change writes the whole file. */
const MOST_IN_LINE = 20_000;

/**
 * Keeps a store in a file, and later changes in a log beside it. The log exists only while it
 * has changes. A change that replaces many records is kept by writing the whole file.
 */
export class FileLog implements ChangeLog<StoreEntry, StoreSnapshot> {
  readonly #parts: FileLogParts;
  #position: Position;
  #mark: Mark;
  /** The state of the file when it had the content of the mark. */
  #state: string;
  #log: LogFile | undefined;
  #turn: Promise<unknown> = Promise.resolve();
  #folding: Promise<void> = Promise.resolve();
  #foldsAgainAt = 0;
  #closed = false;

  constructor(parts: FileLogParts) {
    this.#parts = parts;
    this.#position = parts.position;
    this.#mark = parts.mark;
    this.#state = stateOf(parts.real);
  }

  append(
    after: Position,
    entries: readonly StoreEntry[],
  ): Promise<Appended<StoreEntry, StoreSnapshot>> {
    return this.#alone(async () => {
      const { path } = this.#parts;
      if (this.#closed) throw new LogError(`${path} is closed`);
      if (after !== this.#position) return { kept: false, missed: await this.#missed(after) };
      const position = after + entries.length;
      try {
        if (!this.#isInPlace || isLarge(entries)) await this.#writeWhole(position);
        else await this.#writeLine(entries);
      } catch (error) {
        throw unwritable(path, error);
      }
      this.#position = position;
      return { kept: true, position };
    });
  }

  read(after: Position): Promise<Missed<StoreEntry, StoreSnapshot>> {
    const nothing = { entries: [], position: after };
    if (after === this.#position) return Promise.resolve(nothing);
    return this.#alone(() => this.#missed(after));
  }

  get isFoldDue(): boolean {
    if (this.#log === undefined || performance.now() < this.#foldsAgainAt) return false;
    const { size } = this.#mark.file;
    return this.#log.size > Math.max(SHORTEST_FOLD, Math.min(size, STORE_LIMIT - size));
  }

  fold(at: Position, { store }: StoreSnapshot): Promise<void> {
    this.#folding = this.#fold(at, store).catch((error: unknown) => {
      const { path, onNotice } = this.#parts;
      this.#foldsAgainAt = performance.now() + PAUSE;
      const { message } = unwritable(path, error);
      onNotice(`${message}; the changes stay in ${logPathOf(path)} until it can be written`);
    });
    return this.#folding;
  }

  /** Folds the log into the file, so that the file alone is the whole store. */
  async close(): Promise<void> {
    await this.#folding;
    await this.#alone(async () => {
      if (this.#closed) return;
      const { path, real, lock, onNotice } = this.#parts;
      try {
        if (this.#log !== undefined) await this.#writeWhole(this.#position);
        rmSync(logPathOf(real), { force: true });
      } catch (error) {
        const { message } = unwritable(path, error);
        onNotice(`${message}; the latest changes are in ${logPathOf(path)}`);
      }
      this.#closed = true;
      this.#log?.close();
      lock.release();
    });
  }

  /** Starts with what was found: writes a new file, or takes over the log of an ended server. */
  async begin(pair: StoredPair | undefined): Promise<void> {
    if (pair === undefined) await this.#writeWhole(this.#position);
    // A new file: no paused server has it open for appending.
    else if (pair.lines.length > 0) await this.#startLog(pair.lines);
    else rmSync(logPathOf(this.#parts.real), { force: true });
  }

  /** Runs one operation at a time. */
  #alone<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#turn.then(work, work);
    this.#turn = turn.catch(() => {});
    return turn;
  }

  async #missed(after: Position): Promise<Missed<StoreEntry, StoreSnapshot>> {
    const pair = await readPair(this.#parts.real);
    if (pair === undefined) throw new LogError(`${this.#parts.path} does not exist`);
    const { mark, store, entries } = pair;
    const position = mark.at + entries.length;
    if (after < mark.at) return { snapshot: { store }, entries, position };
    return { entries: entries.slice(after - mark.at), position };
  }

  /** Whether the file and its log still have their names. */
  get #isInPlace(): boolean {
    return existsSync(this.#parts.real) && this.#log?.isInPlace !== false;
  }

  /** Refuses to go on if the file is read-only, or another program has written it. */
  async #requireUnedited(): Promise<void> {
    const { path, real, lock } = this.#parts;
    const state = stateOf(real);
    // To replace a file needs no permission to write it.
    if (state !== '') accessSync(real, constants.W_OK);
    if (state === this.#state || state === '') return;
    if (!lock.isHeld()) throw new LogError(lost(path));
    if (!isSame(await fingerprintOf(real), this.#mark.file)) {
      throw new LogError(
        `${path} was edited while the server uses it; restore its content, or stop the server and delete ${logPathOf(path)}`,
      );
    }
    this.#state = state;
  }

  async #writeLine(entries: readonly StoreEntry[]): Promise<void> {
    await this.#requireUnedited();
    const line = entriesLine(this.#position, entries);
    if (this.#log === undefined) await this.#startLog(line);
    else await this.#log.append(line);
    // While this server was paused, another may have read the log before this line was in it.
    if (this.#parts.lock.isHeld()) return;
    throw new LogError(`${lost(this.#parts.path)}, perhaps with this change`, { maybeDone: true });
  }

  /** Writes the whole store as of a position, which is after the changes that are being appended. */
  async #writeWhole(at: Position): Promise<void> {
    await this.#requireUnedited();
    const draft = await draftOf(forkStore(this.#parts.store), this.#parts.real);
    if (this.#log?.isInPlace === false) {
      this.#log.close();
      this.#log = undefined;
    }
    await this.#place(draft, at);
  }

  /** Renames a draft to the file. The log knows both contents, so a crash may leave either. */
  async #place(draft: StoreDraft, at: Position): Promise<void> {
    const { real } = this.#parts;
    const mark = { file: draft.fingerprint, at };
    try {
      await this.#log?.append(markLine(mark));
      this.#guarded(() => renameSync(draft.path, real));
    } catch (error) {
      rmSync(draft.path, { force: true });
      throw error;
    }
    await syncFolder(dirname(real));
    this.#mark = mark;
    this.#state = stateOf(real);
  }

  async #fold(at: Position, store: Store): Promise<void> {
    const [log, mark] = [this.#log, this.#mark];
    if (log === undefined || at !== this.#position) return;
    const end = log.size;
    await this.#requireUnedited();
    const draft = await draftOf(store, this.#parts.real);
    await this.#alone(async () => {
      // Otherwise the whole file was written meanwhile, with later changes.
      if (this.#mark === mark) await this.#place(draft, at);
      else rmSync(draft.path, { force: true });
    });
    await this.#withNewLog(async (next) => {
      const copied = await next.copy(log, end);
      // Appends wait only while the last lines are copied.
      await this.#alone(async () => {
        await next.copy(log, copied);
        if (this.#log === log) await this.#adopt(next);
        else next.close();
      });
    });
  }

  /** Starts a log with lines. */
  #startLog(lines: Buffer): Promise<void> {
    return this.#withNewLog(async (log) => {
      await log.append(lines);
      await this.#adopt(log);
    });
  }

  /** Creates a log that starts with the mark of the file, and removes it if `use` fails. */
  async #withNewLog(use: (log: LogFile) => Promise<void>): Promise<void> {
    const { real } = this.#parts;
    const log = new LogFile(logPathOf(real), statSync(real).mode);
    try {
      await log.append(markLine(this.#mark));
      await use(log);
    } catch (error) {
      log.close();
      throw error;
    }
  }

  async #adopt(log: LogFile): Promise<void> {
    await log.place((rename) => this.#guarded(rename));
    this.#log?.close();
    this.#log = log;
  }

  /** Replaces a file, unless another server has taken it. */
  #guarded(replace: () => void): void {
    const { lock, path } = this.#parts;
    if (!lock.guard(replace)) throw new LogError(lost(path));
  }
}

/** The message about a lock that another server has taken. */
export function lost(path: string): string {
  return `${path}: another server has taken the file`;
}

/** Whether a line of the log would be too long. */
function isLarge(entries: readonly StoreEntry[]): boolean {
  let count = 0;
  for (const { store: { animals, inventory, orders } = {} } of entries) {
    count += sizeOf(animals) + sizeOf(inventory) + sizeOf(orders);
  }
  return count > MOST_IN_LINE;
}

function sizeOf<R extends object>(change: CollectionChange<R> = {}): number {
  const { from, remove = [], set = [] } = change;
  return (from instanceof Collection ? from.size : 0) + remove.length + set.length;
}
