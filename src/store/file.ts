import { existsSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { Low } from 'lowdb';
import { isHolder, lockFile } from './file-lock.ts';
import { loadFixture } from './fixture.ts';
import { createStore, forkStore, restoreStore, type Store, versionOf } from './store.ts';
import { type FixtureSource, fixtureText } from './write-fixture.ts';

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
  const lock = takeLock(path, real);
  try {
    removeDrafts(real);
    const isNew = !existsSync(real);
    const store = isNew ? fallback() : createStore(loadFixture(real));
    const file = new StoreFile(path, real, store);
    if (isNew) await file.write();
    const close = async (): Promise<void> => {
      await file.settled();
      lock.release();
    };
    return { store, saved: () => file.saved(), close };
  } catch (error) {
    lock.release();
    throw error;
  }
}

function realPathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return resolve(path);
  }
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
  readonly #low: Low<FixtureSource>;
  /** What the file holds. */
  #kept: Store;
  #writing: Promise<void> | undefined;
  /** The write that begins when the one under way has ended. */
  #next: Promise<void> | undefined;
  #writtenVersion: number;

  constructor(path: string, real: string, store: Store) {
    this.#path = path;
    this.#store = store;
    this.#kept = forkStore(store);
    this.#writtenVersion = versionOf(store);
    this.#low = new Low<FixtureSource>(replacing(real), recordsOf(store));
  }

  saved(): Promise<void> {
    const version = versionOf(this.#store);
    if (this.#writing === undefined) {
      return version === versionOf(this.#kept) ? Promise.resolve() : this.#begin();
    }
    if (version === this.#writtenVersion) return this.#writing;
    this.#next ??= this.#writing.then(() => {
      this.#next = undefined;
      return this.saved();
    });
    return this.#next;
  }

  /** Waits until nothing is being written. */
  async settled(): Promise<void> {
    await Promise.allSettled([this.#writing, this.#next]);
  }

  #begin(): Promise<void> {
    this.#writing = this.write().finally(() => {
      this.#writing = undefined;
    });
    return this.#writing;
  }

  async write(): Promise<void> {
    const draft = forkStore(this.#store);
    this.#writtenVersion = versionOf(draft);
    try {
      this.#low.data = recordsOf(draft);
      await this.#low.write();
      this.#kept = draft;
    } catch (error) {
      // Changes that were waiting for the next write were made on top of what is lost.
      this.#next = undefined;
      restoreStore(this.#store, this.#kept);
      throw unwritable(this.#path, error);
    }
  }
}

function recordsOf({ animals, inventory, orders }: Store): FixtureSource {
  return {
    animals: animals.ascending(),
    inventory: inventory.ascending(),
    orders: orders.ascending(),
  };
}

/** What a draft is called beside its file, until it takes the file's place. */
const DRAFT = '.draft';

/** Removes what a server that was killed has left half written. */
function removeDrafts(real: string): void {
  const folder = dirname(real);
  if (!existsSync(folder)) return;
  for (const name of readdirSync(folder)) {
    if (name.startsWith(basename(real)) && name.endsWith(DRAFT)) {
      rmSync(join(folder, name), { force: true });
    }
  }
}

/**
 * A lowdb adapter that replaces a file as a whole: whoever reads it, also after the process was
 * killed or the power failed, finds the one before or the one after.
 */
function replacing(real: string) {
  return {
    read: async () => null,
    write: async (source: FixtureSource): Promise<void> => {
      const draft = `${real}.${process.pid}${DRAFT}`;
      try {
        const handle = await open(draft, 'w');
        try {
          // Each piece waits for the one before, so other requests get their turn in between.
          for (const text of fixtureText(source)) await handle.write(text);
          await handle.datasync();
        } finally {
          await handle.close();
        }
        await rename(draft, real);
      } catch (error) {
        await rm(draft, { force: true }).catch(() => {});
        throw error;
      }
      await syncFolder(dirname(real));
    },
  };
}

/** Makes the new name last through a loss of power, where the system can. */
async function syncFolder(folder: string): Promise<void> {
  try {
    const handle = await open(folder, 'r');
    await handle.sync().finally(() => handle.close());
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
};

function unwritable(path: string, error: unknown): StoreFileError {
  const code = error instanceof Error && 'code' in error ? String(error.code) : String(error);
  const why = REASONS[code] ?? 'it cannot be written';
  return new StoreFileError(`${path}: ${why} (${code})`, { cause: error });
}
