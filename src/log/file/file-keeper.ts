import {
  accessSync,
  constants,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { codeOf } from '../../node-errors.ts';
import {
  type Keeper,
  KeeperError,
  type LogEntry,
  type MissedEntries,
} from '../../sandbox/keeper.ts';
import type { State } from '../../sandbox/state.ts';
import { DRAFT, type FileContent, realPathOf, tryTo, writeStore } from '../../store/file/files.ts';
import type { Store } from '../../store/store.ts';
import { FileLock, type LockHolder, type LockOptions } from './file-lock.ts';
import {
  changesLine,
  type FileWithLog,
  fileLine,
  logPathOf,
  readFileWithLog,
} from './file-with-log.ts';
import { LogFile, MOUNT_POINT, writeError } from './log-file.ts';

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
  requireReplaceable(path, real);
  const onLost = (): void => onNotice(`${path}: ${LOCK_LOST}; it saves no more changes`);
  const lock = await FileLock.take(`${real}.lock`, { patience, onLost }).catch(writeFailed(path));
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
    const store = pair?.store ?? initial;
    const keeper = new FileKeeper({ path, real, lock, onNotice }, store);
    await keeper.start(pair).catch(writeFailed(path));
    return { store, keeper };
  } catch (error) {
    lock.release();
    throw error;
  }
}

function writeFailed(path: string): (error: unknown) => never {
  return (error) => {
    throw writeError(path, error);
  };
}

/** Refuses files that a write would destroy by replacing them. Reading refuses a folder. */
function requireReplaceable(path: string, real: string): void {
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
  const mounts = tryTo(() => readFileSync('/proc/self/mountinfo', 'utf8')) ?? '';
  return mounts.split('\n').some((mount) => mount.split(' ')[4] === path);
}

/** Removes the drafts that killed servers left beside a file. */
function removeDrafts(real: string): void {
  for (const name of readdirSync(dirname(real))) {
    const draft = join(dirname(real), name);
    const former = draft.replace(DRAFT, '');
    const isDraft = former !== draft && (former === real || former === logPathOf(real));
    if (isDraft) rmSync(draft, { force: true });
  }
}

function holderText({ pid, host, since }: LockHolder): string {
  return `process ${pid} on ${host}${since === undefined ? '' : `, since ${since}`}`;
}

const LOCK_LOST = 'another server has taken the file';

/** A log is folded when it is longer than both the file and this many bytes. */
const SHORTEST_FOLD = 4 * 1024 * 1024;

interface LockedFile {
  /** The file's name in messages. */
  readonly path: string;
  /** Its path with links resolved. */
  readonly real: string;
  readonly lock: FileLock;
  readonly onNotice: (message: string) => void;
}

/** Keeps a store in a file, and later changes in a log beside it. */
class FileKeeper implements Keeper {
  readonly isShared = false;
  readonly #file: LockedFile;
  /** What was kept, and how many changes that took since the log began. */
  #store: Store;
  #position = 0;
  /** How many of the changes the file has. */
  #inFile = 0;
  #log: LogFile | undefined;
  /** The size of the log at which it is folded. */
  #foldAt = SHORTEST_FOLD;
  #turn: Promise<unknown> = Promise.resolve();
  #isClosed = false;

  constructor(file: LockedFile, store: Store) {
    this.#file = file;
    this.#store = store;
  }

  /** @param pair what the file and its log held; undefined for a new file */
  async start(pair: FileWithLog | undefined): Promise<void> {
    if (pair === undefined) {
      await this.#fold();
      return;
    }
    this.#position = pair.position;
    this.#inFile = pair.at;
    // A new log: no paused server has it open for appending.
    await this.#startLog(pair.log, pair.file.size);
  }

  append(entries: readonly LogEntry[], { store }: Pick<State, 'store'>): Promise<'kept'> {
    return this.#alone(async () => {
      const changes = entries.flatMap(({ change }) => change?.store ?? []);
      const { path } = this.#file;
      if (this.#isClosed) throw new KeeperError(`${path} is closed`);
      const position = this.#position + changes.length;
      try {
        const log = this.#usableLog() ?? (await this.#fold());
        // While this server was paused, another may have read the log before this line was in it.
        await log.append(changesLine(this.#position, changes), () => this.#requireLock(true));
      } catch (error) {
        throw writeError(path, error);
      }
      this.#store = store;
      this.#position = position;
      this.#foldLongLog();
      return 'kept' as const;
    });
  }

  async read(): Promise<MissedEntries> {
    return { entries: [] };
  }

  /** Folds the log into the file, so that the file alone is the whole store. */
  close(): Promise<void> {
    return this.#alone(async () => {
      if (this.#isClosed) return;
      this.#isClosed = true;
      const { path, real, lock } = this.#file;
      const isBehind = this.#log === undefined || this.#inFile !== this.#position;
      try {
        if (isBehind) await this.#writeFile();
        this.#requireLock();
        rmSync(logPathOf(real), { force: true });
      } catch (error) {
        if (isBehind) this.#report(error, `the latest changes are in ${logPathOf(path)}`);
      }
      this.#log?.close();
      lock.release();
    });
  }

  /** Runs one operation at a time. */
  #alone<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#turn.then(work);
    this.#turn = turn.catch(() => {});
    return turn;
  }

  /** The log, if it follows on the file. Somebody may have deleted either. */
  #usableLog(): LogFile | undefined {
    if (this.#isThere() && this.#log?.isUsable === true) return this.#log;
    this.#requireLock();
    this.#log?.close();
    this.#log = undefined;
    return undefined;
  }

  /** Whether the file exists. @throws EACCES if it is read-only: to replace it needs no permission */
  #isThere(): boolean {
    try {
      accessSync(this.#file.real, constants.W_OK);
      return true;
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return false;
      throw error;
    }
  }

  #foldLongLog(): void {
    const { size } = this.#log ?? { size: 0 };
    if (size <= this.#foldAt) return;
    this.#alone(() => this.#fold()).catch((error: unknown) => {
      this.#foldAt = 2 * size;
      const log = logPathOf(this.#file.path);
      this.#report(error, `the changes stay in ${log} until it can be written`);
    });
  }

  /** Says why the file was not written, and where the changes are. A lost lock was reported before. */
  #report(error: unknown, where: string): void {
    const { path, lock, onNotice } = this.#file;
    if (!lock.isLost) onNotice(`${writeError(path, error).message}; ${where}`);
  }

  /** Writes the store to the file and starts a new log. */
  async #fold(): Promise<LogFile> {
    const content = await this.#writeFile();
    return this.#startLog(fileLine(this.#position, content), content.size);
  }

  /** Replaces the file. The log says so first: a kill may leave either content. */
  async #writeFile(): Promise<FileContent> {
    const position = this.#position;
    const { real } = this.#file;
    this.#isThere();
    this.#requireLock();
    const written = await writeStore(this.#store, real, async (draft, content) => {
      await this.#log?.append(fileLine(position, content));
      this.#requireLock();
      renameSync(draft, real);
    });
    this.#inFile = position;
    return written;
  }

  async #startLog(lines: Buffer, fileSize: number): Promise<LogFile> {
    const { real } = this.#file;
    const path = logPathOf(real);
    const log = await LogFile.create(path, lines, statSync(real).mode, (draft) => {
      this.#requireLock();
      renameSync(draft, path);
    });
    this.#log?.close();
    this.#log = log;
    this.#foldAt = Math.max(SHORTEST_FOLD, fileSize);
    return log;
  }

  /** @throws KeeperError if another server has taken the file */
  #requireLock(isOutcomeUnknown = false): void {
    const { path, real, lock } = this.#file;
    // A server that took the file has written either, and may have released the lock.
    const isUntouched = () => !existsSync(real) || this.#log?.isUsable === true;
    if (lock.hold(isUntouched)) return;
    const maybe = isOutcomeUnknown ? ', perhaps with this change' : '';
    throw new KeeperError(`${path}: ${LOCK_LOST}${maybe}`, { isOutcomeUnknown });
  }
}
