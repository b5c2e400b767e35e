import {
  closeSync,
  createWriteStream,
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
import { pipeline } from 'node:stream/promises';
import { setImmediate } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Adapter } from 'lowdb';
import { readText, STORE_LIMIT } from '../../read-text.ts';
import { parseFixture } from '../fixture/parse-fixture.ts';
import type { Store } from '../store.ts';
import { type KeptTexts, PIECE, storeText } from './store-text.ts';

/** The end of the name of a draft. Older versions had the process id in place of the UUID. */
const DRAFT = /^[\da-f-]+\.draft$/;

/** The end of the name of a lock that is being created or removed. */
const LOCK_DRAFT = /^lock\.[\da-f-]+$/;

/** Milliseconds after which that has long ended. */
const MOMENT = 60_000;

/** The text of a store is too long to be read again. */
class TooLargeError extends Error {
  readonly code = 'EFBIG';
}

export interface StoreJsonOptions {
  /** The name of the file in messages. */
  readonly label?: string | undefined;
  /** Renames a draft over the file, unless a lock was lost. */
  readonly replace?: ((draft: string, real: string) => void) | undefined;
  /** Speeds up repeated writes of the same store. */
  readonly texts?: KeptTexts | undefined;
}

/**
 * lowdb's adapter for a store in a JSON file: a fixture or the file of `--db`. Ids are exact. A write
 * replaces the file atomically: after a kill or a power failure, it holds the store before or after.
 */
export class StoreJson implements Adapter<Store> {
  readonly #path: string;
  readonly #label: string;
  readonly #replace: (draft: string, real: string) => void;
  readonly #texts: KeptTexts | undefined;

  constructor(path: string, { label = path, replace = renameSync, texts }: StoreJsonOptions = {}) {
    this.#path = path;
    this.#label = label;
    this.#replace = replace;
    this.#texts = texts;
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
    if (stats === undefined || stats.isFile()) await this.#writeFile(real, store, stats?.mode);
    // A pipe or a device cannot be replaced.
    else await pipeline(storeText(store, this.#texts), createWriteStream(real));
  }

  async #writeFile(real: string, store: Store, mode: number | undefined): Promise<void> {
    const draft = `${real}.${crypto.randomUUID()}.draft`;
    try {
      // Awaits only slow calls: a turn of Node's threads costs more than the others.
      const descriptor = openSync(draft, 'wx', mode);
      try {
        let size = 0;
        for (const piece of storeText(store, this.#texts)) {
          size += piece.length;
          if (size > STORE_LIMIT) throw new TooLargeError();
          writeFileSync(descriptor, piece);
          if (piece.length >= PIECE) await setImmediate();
        }
        await syncData(descriptor);
      } finally {
        closeSync(descriptor);
      }
      this.#replace(draft, real);
    } catch (error) {
      rmSync(draft, { force: true });
      throw error;
    }
    await syncFolder(dirname(real));
  }
}

/** The path of a file with links resolved, even if it does not exist yet. */
export function realPathOf(path: string): string {
  if (existsSync(path)) return realpathSync(path);
  const folder = dirname(resolve(path));
  return join(existsSync(folder) ? realpathSync(folder) : folder, basename(path));
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

const syncData = promisify(fdatasync);
const sync = promisify(fsync);

/** Makes the new name survive a power failure, if the system supports it. */
async function syncFolder(folder: string): Promise<void> {
  try {
    const descriptor = openSync(folder, 'r');
    await sync(descriptor).finally(() => closeSync(descriptor));
  } catch {
    // Some systems cannot open folders. The file is complete anyway.
  }
}
