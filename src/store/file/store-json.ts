import {
  createWriteStream,
  existsSync,
  lstatSync,
  readlinkSync,
  realpathSync,
  renameSync,
  statSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { crc32 } from 'node:zlib';
import type { Adapter } from 'lowdb';
import { readText, STORE_LIMIT } from '../../read-text.ts';
import { parseFixture } from '../fixture/parse-fixture.ts';
import type { Store } from '../store.ts';
import { storeText } from '../store-text.ts';
import { replaceFile } from './files.ts';

/** The text of a store is too long to be read again. */
class TooLargeError extends Error {
  readonly code = 'EFBIG';
}

/** Identifies the content of a file. */
export interface FileContent {
  /** In bytes. */
  readonly size: number;
  readonly crc32: number;
}

interface StoreJsonOptions {
  /** The name of the file in messages. */
  readonly label?: string | undefined;
  /** Replaces the file by calling `rename`, or throws. */
  readonly replace?: ((rename: () => void, content: FileContent) => Promise<void>) | undefined;
}

/**
 * lowdb's adapter for a store in a JSON file: a fixture or the file of `--db`. Ids are exact. A write
 * replaces the file atomically.
 */
export class StoreJson implements Adapter<Store> {
  readonly #path: string;
  readonly #label: string;
  readonly #replace: NonNullable<StoreJsonOptions['replace']>;
  #content: FileContent = { size: 0, crc32: 0 };

  constructor(path: string, { label = path, replace }: StoreJsonOptions = {}) {
    this.#path = path;
    this.#label = label;
    this.#replace = replace ?? (async (rename) => rename());
  }

  /** What was read or written last. */
  get content(): FileContent {
    return this.#content;
  }

  /**
   * @returns null if there is no file
   * @throws FixtureError if it cannot be read or does not hold a store
   */
  async read(): Promise<Store | null> {
    if (!existsSync(this.#path)) return null;
    const reading = await readText(this.#path, STORE_LIMIT);
    const store = parseFixture(this.#label, reading);
    if (reading.ok) {
      this.#content = { size: Buffer.byteLength(reading.text), crc32: crc32(reading.text) };
    }
    return store;
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
    await replaceFile(real, this.#measured(storeText(store)), stats?.mode, (draft) =>
      this.#replace(() => renameSync(draft, real), this.#content),
    );
  }

  *#measured(pieces: Iterable<Buffer>): Generator<Buffer> {
    this.#content = { size: 0, crc32: 0 };
    for (const piece of pieces) {
      const { size, crc32: checksum } = this.#content;
      this.#content = { size: size + piece.length, crc32: crc32(piece, checksum) };
      if (this.#content.size > STORE_LIMIT) throw new TooLargeError();
      yield piece;
    }
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
