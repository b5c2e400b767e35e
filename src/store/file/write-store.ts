import { createWriteStream, renameSync, statSync } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { crc32 } from 'node:zlib';
import { STORE_LIMIT } from '../../read-text.ts';
import type { Store } from '../store.ts';
import { chunksOf, storeText } from '../store-text.ts';
import { replaceFile } from './files.ts';

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
