import {
  closeSync,
  createWriteStream,
  existsSync,
  fdatasync,
  lstatSync,
  openSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  write,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import type { Adapter } from 'lowdb';
import { readText, STORE_LIMIT } from '../../read-text.ts';
import { parseFixture } from '../fixture/parse-fixture.ts';
import type { Store } from '../store.ts';
import { EMPTY, extended, type Fingerprint } from './fingerprint.ts';
import { storeText } from './store-text.ts';
import { syncFolder } from './sync-folder.ts';

/** The end of the name of a draft: a UUID keeps it apart from the files of the user. */
const DRAFT = /^(?:log\.)?[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}\.draft$/;

/** The end of the name of a lock that is being created or removed. */
const LOCK_DRAFT = /^lock\.[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/;

/** Milliseconds after which such a lock is a leftover. */
const MOMENT = 60_000;

const syncData = promisify(fdatasync);
const writeBytes = promisify(write);

/** The text of a store is too long to be read again. */
class TooLargeError extends Error {
  readonly code = 'EFBIG';
}

/** A store in a new file, which can replace another. */
export interface StoreDraft {
  readonly path: string;
  readonly fingerprint: Fingerprint;
}

/** A draft is synced after this many bytes, so that no single sync blocks the disk for long. */
const SYNCED_AT_ONCE = 1024 * 1024;

/**
 * lowdb's adapter for a store in a JSON file: a fixture or the file of `--db`. Ids are exact. A write
 * replaces the file atomically: after a kill or a power failure, it holds the store before or after.
 */
export class StoreJson implements Adapter<Store> {
  readonly #path: string;
  readonly #label: string;

  /** @param label the name of the file in messages */
  constructor(path: string, label = path) {
    this.#path = path;
    this.#label = label;
  }

  /**
   * @returns null if there is no file
   * @throws FixtureError if it cannot be read or does not hold a store
   */
  async read(): Promise<Store | null> {
    if (!existsSync(this.#path)) return null;
    return parseFixture(this.#label, await readText(this.#path, STORE_LIMIT));
  }

  /** @throws the error of the file system, such as ENOSPC, if the file cannot be written */
  async write(store: Store): Promise<void> {
    const real = realPathOf(this.#path);
    const stats = statSync(real, { throwIfNoEntry: false });
    // A pipe or a device cannot be replaced.
    if (stats !== undefined && !stats.isFile()) {
      await pipeline(storeText(store), createWriteStream(real));
      return;
    }
    const { path } = await draftOf(store, real);
    try {
      renameSync(path, real);
    } catch (error) {
      rmSync(path, { force: true });
      throw error;
    }
    await syncFolder(dirname(real));
  }
}

/** Writes a store to a new file beside `real`, in turns with other requests. */
export async function draftOf(store: Store, real: string): Promise<StoreDraft> {
  const path = `${real}.${crypto.randomUUID()}.draft`;
  const descriptor = openSync(path, 'wx', statSync(real, { throwIfNoEntry: false })?.mode);
  try {
    let fingerprint = EMPTY;
    let unsynced = 0;
    for (const piece of storeText(store)) {
      fingerprint = extended(fingerprint, piece);
      if (fingerprint.size > STORE_LIMIT) throw new TooLargeError();
      for (let done = 0; done < piece.length; ) {
        done += (await writeBytes(descriptor, piece, done)).bytesWritten;
      }
      unsynced += piece.length;
      if (unsynced < SYNCED_AT_ONCE) continue;
      await syncData(descriptor);
      unsynced = 0;
    }
    await syncData(descriptor);
    return { path, fingerprint };
  } catch (error) {
    rmSync(path, { force: true });
    throw error;
  } finally {
    closeSync(descriptor);
  }
}

/** The path of a file with links resolved, even if it does not exist yet. */
export function realPathOf(path: string): string {
  if (existsSync(path)) return realpathSync(path);
  const folder = dirname(resolve(path));
  const real = join(existsSync(folder) ? realpathSync(folder) : folder, basename(path));
  const isLink = lstatSync(real, { throwIfNoEntry: false })?.isSymbolicLink() === true;
  return isLink ? realPathOf(resolve(dirname(real), readlinkSync(real))) : real;
}

/** Removes the drafts that killed processes left beside a file. */
export function removeDrafts(real: string): void {
  const folder = dirname(real);
  if (!existsSync(folder)) return;
  const start = `${basename(real)}.`;
  for (const name of readdirSync(folder)) {
    if (!name.startsWith(start)) continue;
    const path = join(folder, name);
    const ending = name.slice(start.length);
    if (DRAFT.test(ending) || (LOCK_DRAFT.test(ending) && isOlder(path, MOMENT))) {
      rmSync(path, { force: true });
    }
  }
}

function isOlder(path: string, milliseconds: number): boolean {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats !== undefined && Date.now() - stats.mtimeMs > milliseconds;
}
