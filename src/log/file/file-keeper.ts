import { accessSync, constants, existsSync, renameSync, rmSync, statSync } from 'node:fs';
import { codeOf } from '../../error-code.ts';
import { type Entry, type Keeper, KeeperError, type MissedEntries } from '../../sandbox/keeper.ts';
import type { State } from '../../sandbox/state.ts';
import { type FileContent, writeStore } from '../../store/file/write-store.ts';
import type { Store } from '../../store/store.ts';
import type { FileLock } from './file-lock.ts';
import { changesLine, type FileWithLog, fileLine, logPathOf } from './file-with-log.ts';
import { LogFile, writeError } from './log-file.ts';

/** A log is folded when it is longer than both the file and this many bytes. */
const SHORTEST_FOLD = 4 * 1024 * 1024;

export interface FileKeeperParts {
  /** The file's name in messages. */
  readonly path: string;
  /** Its path with links resolved. */
  readonly real: string;
  readonly lock: FileLock;
  readonly onNotice: (message: string) => void;
}

/** Keeps a store in a file, and later changes in a log beside it. */
export class FileKeeper implements Keeper {
  readonly isShared = false;
  readonly #parts: FileKeeperParts;
  /** What was kept, and how many changes that took since the log began. */
  #store: Store;
  #position = 0;
  /** How many of the changes the file has. */
  #inFile = 0;
  #log: LogFile | undefined;
  /** The size of the log at which it is folded. */
  #foldAt = SHORTEST_FOLD;
  #turn: Promise<unknown> = Promise.resolve();
  #isClosed = false;

  private constructor(parts: FileKeeperParts, store: Store) {
    this.#parts = parts;
    this.#store = store;
  }

  /** Starts with what a file and its log hold, or with a new file. */
  static async start(
    parts: FileKeeperParts,
    initial: Store,
    pair: FileWithLog | undefined,
  ): Promise<FileKeeper> {
    const keeper = new FileKeeper(parts, pair?.store ?? initial);
    if (pair === undefined) await keeper.#fold();
    else {
      keeper.#position = pair.position;
      keeper.#inFile = pair.at;
      // A new log: no paused server has it open for appending.
      await keeper.#startLog(pair.log, pair.file.size);
    }
    return keeper;
  }

  append(entries: readonly Entry[], { store }: Pick<State, 'store'>): Promise<'kept'> {
    return this.#alone(async () => {
      const changes = entries.flatMap(({ change }) => change?.store ?? []);
      const { path } = this.#parts;
      if (this.#isClosed) throw new KeeperError(`${path} is closed`);
      const position = this.#position + changes.length;
      try {
        const log = this.#usableLog() ?? (await this.#fold());
        // While this server was paused, another may have read the log before this line was in it.
        await log.append(changesLine(this.#position, changes), () => this.#requireLock(true));
      } catch (error) {
        throw writeError(path, error);
      }
      this.#store = store;
      this.#position = position;
      this.#foldLongLog();
      return 'kept' as const;
    });
  }

  read(): Promise<MissedEntries> {
    return Promise.resolve({ entries: [] });
  }

  /** Folds the log into the file, so that the file alone is the whole store. */
  close(): Promise<void> {
    return this.#alone(async () => {
      if (this.#isClosed) return;
      this.#isClosed = true;
      const { path, real, lock, onNotice } = this.#parts;
      const isBehind = this.#log === undefined || this.#inFile !== this.#position;
      try {
        if (isBehind) await this.#writeFile();
        this.#requireLock();
        rmSync(logPathOf(real), { force: true });
      } catch (error) {
        const { message } = writeError(path, error);
        if (isBehind && !lock.isLost) {
          onNotice(`${message}; the latest changes are in ${logPathOf(path)}`);
        }
      }
      this.#log?.close();
      lock.release();
    });
  }

  /** Runs one operation at a time. */
  #alone<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#turn.then(work);
    this.#turn = turn.catch(() => {});
    return turn;
  }

  /** The log, if it follows on the file. Somebody may have deleted either. */
  #usableLog(): LogFile | undefined {
    if (this.#isThere() && this.#log?.isUsable === true) return this.#log;
    this.#requireLock();
    this.#log?.close();
    this.#log = undefined;
    return undefined;
  }

  /** Whether the file exists. @throws EACCES if it is read-only: to replace it needs no permission */
  #isThere(): boolean {
    try {
      accessSync(this.#parts.real, constants.W_OK);
      return true;
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return false;
      throw error;
    }
  }

  #foldLongLog(): void {
    const { size } = this.#log ?? { size: 0 };
    if (size <= this.#foldAt) return;
    this.#alone(() => this.#fold()).catch((error: unknown) => {
      const { path, lock, onNotice } = this.#parts;
      this.#foldAt = 2 * size;
      if (lock.isLost) return;
      const { message } = writeError(path, error);
      onNotice(`${message}; the changes stay in ${logPathOf(path)} until it can be written`);
    });
  }

  /** Writes the store to the file and starts a new log. */
  async #fold(): Promise<LogFile> {
    const file = await this.#writeFile();
    return this.#startLog(fileLine(this.#position, file), file.size);
  }

  /** Replaces the file. The log says so first: a kill may leave either content. */
  async #writeFile(): Promise<FileContent> {
    const position = this.#position;
    const { real } = this.#parts;
    this.#isThere();
    this.#requireLock();
    const file = await writeStore(this.#store, real, async (draft, content) => {
      await this.#log?.append(fileLine(position, content));
      this.#requireLock();
      renameSync(draft, real);
    });
    this.#inFile = position;
    return file;
  }

  async #startLog(lines: Buffer, fileSize: number): Promise<LogFile> {
    const { real } = this.#parts;
    const path = logPathOf(real);
    const log = await LogFile.create(path, lines, statSync(real).mode, (draft) => {
      this.#requireLock();
      renameSync(draft, path);
    });
    this.#log?.close();
    this.#log = log;
    this.#foldAt = Math.max(SHORTEST_FOLD, fileSize);
    return log;
  }

  /** @throws KeeperError if another server has taken the file */
  #requireLock(isMaybeDone = false): void {
    const { path, real, lock } = this.#parts;
    // A server that took the file has written either, and may have released the lock.
    const isUntouched = () => !existsSync(real) || this.#log?.isUsable === true;
    if (lock.hold(isUntouched)) return;
    throw new KeeperError(
      `${lockLostMessage(path)}${isMaybeDone ? ', perhaps with this change' : ''}`,
      {
        isMaybeDone,
      },
    );
  }
}

/** The message about a lock that another server has taken. */
export function lockLostMessage(path: string): string {
  return `${path}: another server has taken the file`;
}
