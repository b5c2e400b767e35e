import { existsSync, readFileSync, statSync } from 'node:fs';
import { type ChangeLog, LogError, type Position } from '../log/change-log.ts';
import { RecordedStore } from '../log/recorded-store.ts';
import type { Store } from '../store.ts';
import { type FileLock, type Holder, type LockOptions, takeLock } from './file-lock.ts';
import { FileLog, lost, type StoreSnapshot } from './file-log.ts';
import { EMPTY } from './fingerprint.ts';
import type { Mark, StoreEntry } from './log-lines.ts';
import { realPathOf, removeDrafts } from './store-json.ts';
import { logPathOf, readPair, type StoredPair } from './stored-pair.ts';
import { MOUNT_POINT, unwritable } from './unwritable.ts';

/** The content of a file that does not exist. */
const NEW: Mark = { file: EMPTY, at: 0 };

/** A store and its file. */
export interface OpenStoreFile {
  readonly store: RecordedStore;
  /** Keeps the changes of the store. Closing it folds them into the file and releases the lock. */
  readonly log: ChangeLog<StoreEntry, StoreSnapshot>;
  readonly position: Position;
}

export interface StoreFileOptions extends Omit<LockOptions, 'onLost'> {
  /** Called with notices for the user; by default emits them as process warnings. */
  readonly onNotice?: ((message: string) => void) | undefined;
}

/**
 * Opens the file of a store, with the log beside it. Creates the file if it does not exist.
 *
 * @param initial the store of a new file
 * @throws FixtureError if the file does not hold a store, LogError if another server uses it, it
 *   cannot be written, or its log is damaged or not of this file
 */
export async function openStoreFile(
  path: string,
  initial: Store,
  options: StoreFileOptions = {},
): Promise<OpenStoreFile> {
  const { onNotice = (message) => process.emitWarning(message) } = options;
  // A write replaces the file, and must not replace a link to it.
  const real = realPathOf(path);
  requireFile(path, real);
  const lock = await lockOf(path, real, options, onNotice);
  try {
    removeDrafts(real);
    const pair = await readPair(real);
    const { mark, entries } = pair ?? { mark: NEW, entries: [] };
    if (pair !== undefined) warnOfLosses(real, pair, lock, onNotice);
    const store = new RecordedStore(pair?.store ?? initial);
    for (const { store: change = {} } of entries) store.apply(change);
    const position = mark.at + entries.length;
    const log = new FileLog({ path, real, lock, store, position, mark, onNotice });
    await log.begin(pair).catch((error: unknown) => {
      throw unwritable(path, error);
    });
    return { store, log, position };
  } catch (error) {
    lock.release();
    throw error;
  }
}

/** Reports changes that the file and its log may lack. */
function warnOfLosses(
  path: string,
  { torn, isOlder }: StoredPair,
  { former }: FileLock,
  onNotice: (message: string) => void,
): void {
  const log = logPathOf(path);
  if (torn > 0) {
    onNotice(`${log}: the last line was damaged or cut; it is left out (${torn} bytes)`);
  }
  if (isOlder) {
    onNotice(`${path} is older than what ${log} was folded into, or was edited: it lacks changes`);
  }
  if (former !== undefined && !existsSync(log)) {
    onNotice(
      `${log} is missing, and the last server (${named(former)}) was killed; if it had changes, ${path} lacks them`,
    );
  }
}

/** Refuses files that a write would destroy by replacing them. Reading refuses a folder. */
function requireFile(path: string, real: string): void {
  const stats = statSync(real, { throwIfNoEntry: false });
  if (stats === undefined || stats.isDirectory()) return;
  if (!stats.isFile()) {
    throw new LogError(`${path}: it is a device or a pipe, which cannot hold a store`);
  }
  if (isMountPoint(real)) throw new LogError(`${path}: ${MOUNT_POINT}`);
  if (stats.nlink > 1) {
    throw new LogError(
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

async function lockOf(
  path: string,
  real: string,
  options: LockOptions,
  onNotice: (message: string) => void,
): Promise<FileLock> {
  const onLost = (): void => onNotice(`${lost(path)}; it saves no more changes`);
  const taken = await takeLock(real, { ...options, onLost }).catch((error: unknown) => {
    throw unwritable(path, error);
  });
  if ('guard' in taken) return taken;
  throw new LogError(
    `${path} is in use by another server (${named(taken)}); stop that one, or name another file with --db`,
  );
}

function named({ pid, host, since }: Holder): string {
  return `process ${pid} on ${host}${since === undefined ? '' : `, since ${since}`}`;
}
