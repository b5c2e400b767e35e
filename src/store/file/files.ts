import {
  closeSync,
  createWriteStream,
  existsSync,
  fsync,
  lstatSync,
  openSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { open, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { crc32 } from 'node:zlib';
import { STORE_LIMIT } from '../../read-text.ts';
import type { Store } from '../store.ts';
import { chunksOf, storeText } from '../store-text.ts';

/** Changes whenever a file is written, touched or replaced; empty if there is none. */
export function stateOf(path: string): string {
  const stats = tryTo(() => statSync(path, { bigint: true }));
  return stats === undefined ? '' : `${stats.ino} ${stats.size} ${stats.mtimeNs}`;
}

/** What an action returns; undefined if it throws. */
export function tryTo<T>(action: () => T): T | undefined {
  try {
    return action();
  } catch {
    return undefined;
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

const sync = promisify(fsync);

/** The end of the name of a draft: a UUID keeps it apart from the files of the user. */
export const DRAFT = /\.[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}\.draft$/;

/**
 * Replaces a file atomically: after a kill or a power failure, it has its content before or after.
 *
 * @param place renames the draft, which is on the disk by then, or throws
 */
export async function replaceFile(
  path: string,
  pieces: Iterable<Buffer>,
  mode?: number,
  place: (draft: string) => void | Promise<void> = (draft) => renameSync(draft, path),
): Promise<void> {
  const draft = `${path}.${crypto.randomUUID()}.draft`;
  try {
    const file = await open(draft, 'wx', mode);
    try {
      await writeFile(file, pieces);
      await file.sync();
    } finally {
      await file.close();
    }
    await place(draft);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
  await syncFolder(dirname(path));
}

/** Makes new names in a folder survive a power failure, if the system supports it. */
async function syncFolder(folder: string): Promise<void> {
  try {
    const descriptor = openSync(folder, 'r');
    await sync(descriptor).finally(() => closeSync(descriptor));
  } catch {
    // Some systems cannot open folders. The files are complete anyway.
  }
}

/** Identifies the content of a file. */
export interface FileContent {
  /** In bytes. */
  readonly size: number;
  readonly crc32: number;
}

export function contentOf(bytes: string | Buffer, { size, crc32: before } = EMPTY): FileContent {
  return { size: size + Buffer.byteLength(bytes), crc32: crc32(bytes, before) };
}

const EMPTY: FileContent = { size: 0, crc32: 0 };

/**
 * Replaces a file by a store, as a fixture. Writes into a pipe or a device, which cannot be replaced.
 *
 * @param path with links resolved
 * @param place renames the draft, which has this content, or throws
 * @throws the error of the file system, such as ENOSPC, if the file cannot be written
 */
export async function writeStore(
  store: Store,
  path: string,
  place = async (draft: string, _content: FileContent): Promise<void> => renameSync(draft, path),
): Promise<FileContent> {
  const stats = statSync(path, { throwIfNoEntry: false });
  let content = EMPTY;
  const pieces = function* (): Generator<Buffer> {
    for (const chunk of chunksOf(storeText(store))) {
      const piece = Buffer.from(chunk);
      content = contentOf(piece, content);
      // Longer text could not be read again.
      if (content.size > STORE_LIMIT)
        throw Object.assign(new Error('too large'), { code: 'EFBIG' });
      yield piece;
    }
  };
  if (stats !== undefined && !stats.isFile()) await pipeline(pieces, createWriteStream(path));
  else await replaceFile(path, pieces(), stats?.mode, (draft) => place(draft, content));
  return content;
}
