import { renameSync, statSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { Low } from 'lowdb';
import { codeOf } from '../../error-code.ts';
import { STORE_LIMIT } from '../../read-text.ts';
import { forkStore, restoreStore, type Store, versionOf } from '../store.ts';
import { FileLock, type Holder, type LockOptions, takeLock } from './file-lock.ts';
import { realPathOf, removeDrafts, StoreJson } from './store-json.ts';
import { KeptTexts } from './store-text.ts';

/** The file of a store cannot be used. The message says why. */
export class StoreFileError extends Error {
  override readonly name = 'StoreFileError';
}

/** A store, and the file that holds it. */
export interface OpenStoreFile {
  readonly store: Store;
  /**
   * Resolves when every change made to the store so far is in the file. Changes that come during a
   * write share the next one.
   *
   * @throws StoreFileError where the file cannot be written; the store is then what the file holds
   */
  saved(): Promise<void>;
  /** Waits for the write in progress and releases the file. */
  close(): Promise<void>;
}

export interface StoreFileOptions extends Omit<LockOptions, 'onLost'> {
  /** Called once if another server takes the file; by default a warning of the process. */
  readonly onNotice?: ((message: string) => void) | undefined;
}

/**
 * Opens the file that keeps a store. A new file is written at once.
 *
 * @param initial the store where there is no file yet
 * @throws FixtureError where the file does not hold a store, StoreFileError where another server
 *   has it or it cannot be written
 */
export async function openStoreFile(
  path: string,
  initial: Store,
  options: StoreFileOptions = {},
): Promise<OpenStoreFile> {
  // A write replaces the file, so links are resolved: else it would replace the link.
  const real = realPathOf(path);
  requireFile(path, real);
  const lock = await lockOf(path, real, options);
  try {
    removeDrafts(real);
    const replace = (draft: string) => {
      if (!lock.guard(() => renameSync(draft, real))) throw new StoreFileError(lost(path));
    };
    const low = new Low(new StoreJson(real, { replace, texts: new KeptTexts() }), initial);
    await low.read();
    const store = low.data;
    const file = new StoreFile(path, low);
    if (store === initial) await file.write();
    const close = async (): Promise<void> => {
      await file.close();
      lock.release();
    };
    return { store, saved: () => file.saved(), close };
  } catch (error) {
    lock.release();
    throw error;
  }
}

/** Every write replaces the file: what is not a file would be lost. Reading it refuses a folder. */
function requireFile(path: string, real: string): void {
  const stats = statSync(real, { throwIfNoEntry: false });
  if (stats === undefined || stats.isDirectory()) return;
  if (!stats.isFile()) {
    throw new StoreFileError(`${path}: it is a device or a pipe, where a store cannot be kept`);
  }
  if (stats.nlink > 1) {
    throw new StoreFileError(
      `${path}: it has ${stats.nlink} names (hard links), and saving would part them: remove the others or copy the file`,
    );
  }
}

async function lockOf(path: string, real: string, options: StoreFileOptions): Promise<FileLock> {
  const taken = await takeLock(real, {
    ...options,
    onLost: () =>
      (options.onNotice ?? process.emitWarning)(`${lost(path)}: no change is saved any more`),
  }).catch((error: unknown) => {
    throw unwritable(path, error);
  });
  if (taken instanceof FileLock) return taken;
  throw new StoreFileError(
    `${path} is kept by another server, ${told(taken)}: stop that one, or name another file with --db`,
  );
}

function told({ pid, host, since }: Holder): string {
  return `process ${pid} on ${host}${since === undefined ? '' : `, since ${since}`}`;
}

function lost(path: string): string {
  return `${path}: another server has taken the file`;
}

/** Writes a store to its file, again whenever it has changed. */
class StoreFile {
  readonly #path: string;
  readonly #store: Store;
  readonly #low: Low<Store>;
  /** What the file holds. */
  #kept: Store;
  #writing: Promise<void> | undefined;
  /** The write that begins when the current one has ended. */
  #next: Promise<void> | undefined;
  /** The version that the current write saves; undefined until it has begun. */
  #writtenVersion: number | undefined;
  #closed = false;

  constructor(path: string, low: Low<Store>) {
    this.#path = path;
    this.#low = low;
    this.#store = low.data;
    this.#kept = forkStore(low.data);
  }

  saved(): Promise<void> {
    const version = versionOf(this.#store);
    if (this.#closed) return Promise.reject(new StoreFileError(`${this.#path} has been closed`));
    if (this.#writing === undefined) {
      return version === versionOf(this.#kept) ? Promise.resolve() : this.#begin();
    }
    if (this.#writtenVersion === undefined || version === this.#writtenVersion) {
      return this.#writing;
    }
    this.#next ??= this.#writing.then(() => {
      this.#next = undefined;
      return this.saved();
    });
    return this.#next;
  }

  /** Waits for the writes in progress, then refuses others. */
  async close(): Promise<void> {
    await Promise.allSettled([this.#writing, this.#next]);
    this.#closed = true;
  }

  #begin(): Promise<void> {
    this.#writtenVersion = undefined;
    // Requests that arrived together make their changes in this turn: they share the write.
    this.#writing = setImmediate().then(() => this.write());
    return this.#writing;
  }

  async write(): Promise<void> {
    const draft = forkStore(this.#store);
    this.#writtenVersion = versionOf(draft);
    try {
      this.#low.data = draft;
      await this.#low.write();
      this.#kept = draft;
    } catch (error) {
      // Changes that wait for the next write were made on top of those that are lost.
      this.#next = undefined;
      restoreStore(this.#store, this.#kept);
      throw unwritable(this.#path, error);
    } finally {
      // At once: a change that comes now must begin a write of its own.
      this.#writing = undefined;
    }
  }
}

const REASONS: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'your share of the disk is used up',
  EACCES: 'you may not write there',
  EPERM: 'you may not write there',
  EROFS: 'the disk is read-only',
  ENOENT: 'its folder does not exist',
  ENOTDIR: 'its folder does not exist',
  EISDIR: 'it is a folder',
  EFBIG: `a store of more than ${STORE_LIMIT / 1024 ** 2} MiB could not be read again`,
  EBUSY: 'it is mounted by itself, so it cannot be replaced: mount its folder',
};

function unwritable(path: string, error: unknown): StoreFileError {
  if (error instanceof StoreFileError) return error;
  const code = codeOf(error) ?? String(error);
  const why = REASONS[code] ?? 'it cannot be written';
  return new StoreFileError(`${path}: ${why} (${code})`, { cause: error });
}
