import {
  linkSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { hostname } from 'node:os';

/** How often a holder shows that it is alive, and how long it is believed after that; milliseconds. */
const HEARTBEAT = 3_000;
const FRESH = 10_000;

/** Who holds a lock, as the lock file says it. */
export interface Holder {
  readonly pid: number;
  readonly host: string;
  /** Tells takers apart that look for the lock at the same time. */
  readonly id: string;
}

export interface FileLock {
  release(): void;
}

/** The lock files that this process holds: its own pid in one is a leftover where it is not here. */
const held = new Set<string>();

/**
 * Takes the lock on a file for this process, in a file of its own beside it.
 *
 * @param path of the file, with links resolved
 * @returns the holder where another server has it
 */
export function lockFile(path: string): FileLock | Holder {
  const lock = `${path}.lock`;
  const own: Holder = { pid: process.pid, host: hostname(), id: crypto.randomUUID() };
  if (held.has(lock)) return own;
  if (!create(lock, own)) {
    const holder = readHolder(lock);
    if (holder !== undefined && isAlive(holder, lock)) return holder;
    setAside(lock, holder);
    if (!create(lock, own)) return readHolder(lock) ?? own;
  }
  held.add(lock);
  const beat = setInterval(() => touch(lock), HEARTBEAT).unref();
  return {
    release() {
      clearInterval(beat);
      held.delete(lock);
      if (readHolder(lock)?.id === own.id) rmSync(lock, { force: true });
    },
  };
}

export function isHolder(taken: FileLock | Holder): taken is Holder {
  return 'pid' in taken;
}

/** Makes the lock file with its content at once, so that nobody finds it empty. */
function create(lock: string, own: Holder): boolean {
  const draft = `${lock}.${own.id}`;
  writeFileSync(draft, JSON.stringify(own), { flag: 'wx' });
  try {
    linkSync(draft, lock);
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}

/** Takes a leftover out of the way, but not the lock of somebody who was faster. */
function setAside(lock: string, leftover: Holder | undefined): void {
  const aside = `${lock}.${crypto.randomUUID()}`;
  try {
    renameSync(lock, aside);
    if (readHolder(aside)?.id !== leftover?.id) linkSync(aside, lock);
  } catch (error) {
    // Somebody else has taken it away, or made a new one, in the meantime.
    if (codeOf(error) !== 'ENOENT' && codeOf(error) !== 'EEXIST') throw error;
  } finally {
    rmSync(aside, { force: true });
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}

function readHolder(lock: string): Holder | undefined {
  try {
    const { pid, host, id }: Record<string, unknown> = JSON.parse(readFileSync(lock, 'utf8'));
    if (typeof pid !== 'number' || typeof host !== 'string' || typeof id !== 'string') return;
    return { pid, host, id };
  } catch {
    return undefined;
  }
}

/**
 * Whether a holder still runs. In a container every server is process 1: a lock of this process's
 * own pid that it does not hold is one that the container before it left.
 */
function isAlive({ pid, host }: Holder, lock: string): boolean {
  if (host !== hostname()) {
    const { mtimeMs = 0 } = statSync(lock, { throwIfNoEntry: false }) ?? {};
    return Date.now() - mtimeMs < FRESH;
  }
  if (pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) === 'EPERM';
  }
}

function touch(lock: string): void {
  try {
    const now = new Date();
    utimesSync(lock, now, now);
  } catch {
    // Whoever removed it meant to.
  }
}
