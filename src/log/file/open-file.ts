import { existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { KeeperError } from '../../sandbox/keeper.ts';
import { DRAFT, realPathOf } from '../../store/file/files.ts';
import type { Store } from '../../store/store.ts';
import { FileKeeper, lockLostMessage } from './file-keeper.ts';
import { FileLock, type LockHolder, type LockOptions } from './file-lock.ts';
import { logPathOf, readFileWithLog } from './file-with-log.ts';
import { MOUNT_POINT, writeError } from './log-file.ts';

export interface FileOptions extends Pick<LockOptions, 'patience'> {
  /** Called with notices for the user; by default emits them as process warnings. */
  readonly onNotice?: ((message: string) => void) | undefined;
}

/**
 * Opens the file of a store, with the log beside it. Creates the file if it does not exist.
 *
 * @param initial the store of a new file
 * @returns the store, and what keeps its changes. Closing that releases the file.
 * @throws FixtureError if the file does not hold a store, KeeperError if another server uses it, it
 *   cannot be written, or its log is damaged or not of this file
 */
export async function openFile(
  path: string,
  initial: Store,
  options: FileOptions = {},
): Promise<{ readonly store: Store; readonly keeper: FileKeeper }> {
  const { patience, onNotice = (message) => process.emitWarning(message) } = options;
  // A write replaces the file, and must not replace a link to it.
  const real = realPathOf(path);
  requireFile(path, real);
  const onLost = (): void => onNotice(`${lockLostMessage(path)}; it saves no more changes`);
  const lock = await FileLock.take(`${real}.lock`, { patience, onLost }).catch((error: unknown) => {
    throw writeError(path, error);
  });
  if (!(lock instanceof FileLock)) {
    throw new KeeperError(
      `${path} is in use by another server (${holderText(lock)}); stop that one, or name another file with --db`,
    );
  }
  try {
    removeDrafts(real);
    const hadLog = existsSync(logPathOf(real));
    const pair = await readFileWithLog(real);
    for (const loss of pair?.losses ?? []) onNotice(loss);
    if (pair !== undefined && !hadLog && lock.former !== undefined) {
      onNotice(
        `${logPathOf(real)} is missing, and the last server (${holderText(lock.former)}) was killed; if it had changes, ${real} lacks them`,
      );
    }
    const parts = { path, real, lock, onNotice };
    const keeper = await FileKeeper.start(parts, initial, pair).catch((error: unknown) => {
      throw writeError(path, error);
    });
    return { store: pair?.store ?? initial, keeper };
  } catch (error) {
    lock.release();
    throw error;
  }
}

/** Refuses files that a write would destroy by replacing them. Reading refuses a folder. */
function requireFile(path: string, real: string): void {
  const stats = statSync(real, { throwIfNoEntry: false });
  if (stats === undefined || stats.isDirectory()) return;
  if (!stats.isFile()) {
    throw new KeeperError(`${path}: it is a device or a pipe, which cannot hold a store`);
  }
  if (isMountPoint(real)) throw new KeeperError(`${path}: ${MOUNT_POINT}`);
  if (stats.nlink > 1) {
    throw new KeeperError(
      `${path}: it has ${stats.nlink} names (hard links), and saving would separate them; remove the others or copy the file`,
    );
  }
}

/** Whether a file of its own is mounted at a path, as containers do. See proc(5). */
function isMountPoint(path: string): boolean {
  const table = '/proc/self/mountinfo';
  if (!existsSync(table)) return false;
  const mounts = readFileSync(table, 'utf8').split('\n');
  return mounts.some((mount) => mount.split(' ')[4] === path);
}

/** Removes the drafts that killed servers left beside a file. */
function removeDrafts(real: string): void {
  const folder = dirname(real);
  const names = new Set([basename(real), basename(logPathOf(real))]);
  for (const name of readdirSync(folder)) {
    const former = name.replace(DRAFT, '');
    if (former !== name && names.has(former)) rmSync(join(folder, name), { force: true });
  }
}

function holderText({ pid, host, since }: LockHolder): string {
  return `process ${pid} on ${host}${since === undefined ? '' : `, since ${since}`}`;
}
