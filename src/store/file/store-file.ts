import { renameSync, statSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { Low } from 'lowdb';
import { codeOf } from '../../error-code.ts';
import { STORE_LIMIT } from '../../read-text.ts';
import type { ChangeLog, Position } from '../log/change-log.ts';
import { RecordedStore } from '../log/recorded-store.ts';
import type { StoreChange } from '../log/store-change.ts';
import { forkStore, type Store, versionOf } from '../store.ts';
import { type FileLock, type Holder, type LockOptions, takeLock } from './file-lock.ts';
import { realPathOf, removeDrafts, StoreJson } from './store-json.ts';
import { KeptTexts } from './store-text.ts';

/** A store's file cannot be used. The message says why. */
export class StoreFileError extends Error {
  override readonly name = 'StoreFileError';
}

/** A store and its file. */
export interface OpenStoreFile {
  readonly store: RecordedStore;
  /** Keeps the changes of the store. */
  readonly log: ChangeLog<StoreEntry, StoreSnapshot>;
  readonly position: Position;
}

/** What is kept of a change. */
interface StoreEntry {
  readonly store?: StoreChange | undefined;
}

interface StoreSnapshot {
  readonly store: Store;
}

export interface StoreFileOptions extends Omit<LockOptions, 'onLost'> {
  /** Called once if another server takes the file; by default emits a warning of the process. */
  readonly onNotice?: ((message: string) => void) | undefined;
}

/**
 * Opens the file of a store. Creates it if it does not exist.
 *
 * @param initial the store of a new file
 * @throws FixtureError if the file does not hold a store, StoreFileError if another server uses it
 *   or it cannot be written
 */
export async function openStoreFile(
  path: string,
  initial: Store,
  options: StoreFileOptions = {},
): Promise<OpenStoreFile> {
  // A write replaces the file, and must not replace a link to it.
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
    const isNew = low.data === initial;
    const file = new StoreFile(path, low, lock);
    if (isNew) await file.write();
    return { store: file.store, log: file, position: 0 };
  } catch (error) {
    lock.release();
    throw error;
  }
}

/** Refuses what a write would destroy by replacing it. Reading refuses a folder. */
function requireFile(path: string, real: string): void {
  const stats = statSync(real, { throwIfNoEntry: false });
  if (stats === undefined || stats.isDirectory()) return;
  if (!stats.isFile()) {
    throw new StoreFileError(`${path}: it is a device or a pipe, which cannot hold a store`);
  }
  if (stats.nlink > 1) {
    throw new StoreFileError(
      `${path}: it has ${stats.nlink} names (hard links), and saving would separate them; remove the others or copy the file`,
    );
  }
}

async function lockOf(path: string, real: string, options: StoreFileOptions): Promise<FileLock> {
  const taken = await takeLock(real, {
    ...options,
    onLost: () =>
      (options.onNotice ?? process.emitWarning)(`${lost(path)}; no change is saved any more`),
  }).catch((error: unknown) => {
    throw unwritable(path, error);
  });
  if ('guard' in taken) return taken;
  throw new StoreFileError(
    `${path} is in use by another server (${named(taken)}); stop that one, or name another file with --db`,
  );
}

function named({ pid, host, since }: Holder): string {
  return `process ${pid} on ${host}${since === undefined ? '' : `, since ${since}`}`;
}

function lost(path: string): string {
  return `${path}: another server has taken the file`;
}

class StoreFile implements ChangeLog<StoreEntry, StoreSnapshot> {
  readonly store: RecordedStore;
  readonly isFoldDue = false;
  readonly #path: string;
  readonly #low: Low<Store>;
  readonly #lock: FileLock;
  /** The content of the file. */
  #kept: Store;
  #writing: Promise<void> | undefined;
  /** The write after the current one. */
  #next: Promise<void> | undefined;
  /** The version that the current write saves; undefined until it starts. */
  #writtenVersion: number | undefined;
  #closed = false;

  constructor(path: string, low: Low<Store>, lock: FileLock) {
    this.store = new RecordedStore(low.data);
    this.#path = path;
    this.#low = low;
    this.#lock = lock;
    this.#kept = forkStore(low.data);
  }

  async append(
    after: Position,
    entries: readonly StoreEntry[],
  ): Promise<{ kept: true; position: Position }> {
    await this.#saved();
    return { kept: true, position: after + entries.length };
  }

  read(after: Position): Promise<{ entries: StoreEntry[]; position: Position }> {
    return Promise.resolve({ entries: [], position: after });
  }

  fold(): Promise<void> {
    return Promise.resolve();
  }

  #saved(): Promise<void> {
    const version = versionOf(this.store);
    if (this.#closed) return Promise.reject(new StoreFileError(`${this.#path} is closed`));
    if (this.#writing === undefined) {
      return version === versionOf(this.#kept) ? Promise.resolve() : this.#begin();
    }
    if (this.#writtenVersion === undefined || version === this.#writtenVersion) {
      return this.#writing;
    }
    this.#next ??= this.#writing.then(() => {
      this.#next = undefined;
      return this.#saved();
    });
    return this.#next;
  }

  async close(): Promise<void> {
    await Promise.allSettled([this.#writing, this.#next]);
    this.#closed = true;
    this.#lock.release();
  }

  #begin(): Promise<void> {
    this.#writtenVersion = undefined;
    // Requests that arrived together make their changes in this turn and share the write.
    this.#writing = setImmediate().then(() => this.write());
    return this.#writing;
  }

  /** Writes the store, changed or not. */
  async write(): Promise<void> {
    const draft = forkStore(this.store);
    this.#writtenVersion = versionOf(draft);
    try {
      this.#low.data = draft;
      await this.#low.write();
      this.#kept = draft;
    } catch (error) {
      // Changes that wait for the next write build on those that are lost.
      this.#next = undefined;
      throw unwritable(this.#path, error);
    } finally {
      // A change from now on must start its own write.
      this.#writing = undefined;
    }
  }
}

const REASONS: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is exceeded',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the disk is read-only',
  ENOENT: 'its folder does not exist',
  ENOTDIR: 'its folder does not exist',
  EISDIR: 'it is a folder',
  EFBIG: `a store of more than ${STORE_LIMIT / 1024 ** 2} MiB could not be read again`,
  EBUSY: 'it is a mount of its own, which cannot be replaced; mount its folder',
};

function unwritable(path: string, error: unknown): StoreFileError {
  if (error instanceof StoreFileError) return error;
  const code = codeOf(error) ?? String(error);
  const why = REASONS[code] ?? 'it cannot be written';
  return new StoreFileError(`${path}: ${why} (${code})`, { cause: error });
}
