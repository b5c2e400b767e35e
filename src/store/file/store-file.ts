import {
  closeSync,
  existsSync,
  fdatasync,
  fsync,
  openSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Low } from 'lowdb';
import { loadFixture } from '../fixture/load-fixture.ts';
import { createStore, forkStore, restoreStore, type Store, versionOf } from '../store.ts';
import { isHolder, lockFile } from './file-lock.ts';
import { PIECE, StoreText } from './store-text.ts';

/** A store whose file cannot be kept, with the reason in words. */
export class StoreFileError extends Error {
  override readonly name = 'StoreFileError';
}

/** A store, and the file that holds it. */
export interface OpenStoreFile {
  readonly store: Store;
  /**
   * Resolves when every change made to the store so far is in the file. Changes that come while a
   * write is under way share the next one.
   *
   * @throws StoreFileError where it cannot be written; the store holds again what the file does
   */
  saved(): Promise<void>;
  /** Waits for the write that is under way and lets the file go. */
  close(): Promise<void>;
}

/**
 * Opens the file that keeps a store. A file that is new is written at once.
 *
 * @param fallback what the store holds where there is no file yet
 * @throws FixtureError where the file does not hold a store, StoreFileError where another server
 *   has it or it cannot be written
 */
export async function openStoreFile(path: string, fallback: () => Store): Promise<OpenStoreFile> {
  // Links are followed first, or else the link would be replaced and not what it leads to.
  const real = realPathOf(path);
  requireFile(path, real);
  const lock = takeLock(path, real);
  try {
    removeDrafts(real);
    const isNew = !existsSync(real);
    const store = isNew ? fallback() : createStore(loadFixture(real));
    const file = new StoreFile(path, real, store);
    if (isNew) await file.write();
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

/** The same path for one file, whichever links lead there, also where it is still to be made. */
function realPathOf(path: string): string {
  if (existsSync(path)) return realpathSync(path);
  const folder = dirname(resolve(path));
  return join(existsSync(folder) ? realpathSync(folder) : folder, basename(path));
}

/** It is replaced by every write: what is no file would be lost. A folder is told of by what reads it. */
function requireFile(path: string, real: string): void {
  const found = statSync(real, { throwIfNoEntry: false });
  if (found === undefined || found.isFile() || found.isDirectory()) return;
  throw new StoreFileError(`${path}: it is a device or a pipe, where a store cannot be kept`);
}

function takeLock(path: string, real: string) {
  const taken = tryLock(path, real);
  if (!isHolder(taken)) return taken;
  const { pid, host } = taken;
  throw new StoreFileError(
    `${path} is kept by another server, process ${pid} on ${host}: stop that one, or name another file with --db`,
  );
}

function tryLock(path: string, real: string) {
  try {
    return lockFile(real);
  } catch (error) {
    throw unwritable(path, error);
  }
}

/** Keeps a store in a file, which is replaced as a whole by every write. */
class StoreFile {
  readonly #path: string;
  readonly #store: Store;
  readonly #low: Low<Store>;
  /** What the file holds. */
  #kept: Store;
  #writing: Promise<void> | undefined;
  /** The write that begins when the one under way has ended. */
  #next: Promise<void> | undefined;
  /** What the write under way writes; undefined until it has begun to. */
  #writtenVersion: number | undefined;
  #closed = false;

  constructor(path: string, real: string, store: Store) {
    this.#path = path;
    this.#store = store;
    this.#kept = forkStore(store);
    this.#low = new Low<Store>(replacing(real), this.#kept);
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

  /** Waits until nothing is being written, and writes no more. */
  async close(): Promise<void> {
    await Promise.allSettled([this.#writing, this.#next]);
    this.#closed = true;
  }

  #begin(): Promise<void> {
    this.#writtenVersion = undefined;
    // Requests that have arrived together make their changes in this turn: they share the write.
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
      // Changes that were waiting for the next write were made on top of what is lost.
      this.#next = undefined;
      restoreStore(this.#store, this.#kept);
      throw unwritable(this.#path, error);
    } finally {
      // At once: a change that comes now must begin a write of its own.
      this.#writing = undefined;
    }
  }
}

/** What a file is called until it takes the place of the one before. */
function draftOf(real: string): string {
  return `${real}.${process.pid}.draft`;
}

/** Removes what a server that was killed has left half written. */
function removeDrafts(real: string): void {
  const folder = dirname(real);
  if (!existsSync(folder)) return;
  const start = `${basename(real)}.`;
  for (const name of readdirSync(folder)) {
    if (name.startsWith(start) && /^\d+\.draft$/.test(name.slice(start.length))) {
      rmSync(join(folder, name), { force: true });
    }
  }
}

/**
 * A lowdb adapter that replaces a file as a whole: whoever reads it, also after the process was
 * killed or the power failed, finds the one before or the one after.
 */
function replacing(real: string) {
  const text = new StoreText();
  return {
    read: async () => null,
    write: async (store: Store): Promise<void> => {
      const draft = draftOf(real);
      try {
        const mode = statSync(real, { throwIfNoEntry: false })?.mode;
        // Only what can take long is waited for: each turn of Node's threads costs more than a call.
        const descriptor = openSync(draft, 'wx', mode);
        try {
          for (const piece of text.pieces(store)) {
            writeFileSync(descriptor, piece);
            if (piece.length >= PIECE) await setImmediate();
          }
          await dataSync(descriptor);
        } finally {
          closeSync(descriptor);
        }
        renameSync(draft, real);
      } catch (error) {
        rmSync(draft, { force: true });
        throw error;
      }
      await syncFolder(dirname(real));
    },
  };
}

const dataSync = promisify(fdatasync);
const sync = promisify(fsync);

/** Makes the new name last through a loss of power, where the system can. */
async function syncFolder(folder: string): Promise<void> {
  try {
    const descriptor = openSync(folder, 'r');
    await sync(descriptor).finally(() => closeSync(descriptor));
  } catch {
    // Not every system lets a folder be opened; the file is whole without it.
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
  EEXIST: 'another server is writing it',
  EBUSY: 'it is mounted by itself, so it cannot be replaced: mount its folder',
};

function unwritable(path: string, error: unknown): StoreFileError {
  const code = error instanceof Error && 'code' in error ? String(error.code) : String(error);
  const why = REASONS[code] ?? 'it cannot be written';
  return new StoreFileError(`${path}: ${why} (${code})`, { cause: error });
}
