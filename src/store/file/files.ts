import {
  closeSync,
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
import { promisify } from 'node:util';

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
