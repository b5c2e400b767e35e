import { randomUUID } from 'node:crypto';
import { readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
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
  const own: Holder = { pid: process.pid, host: hostname(), id: randomUUID() };
  if (held.has(lock)) return own;
  if (!create(lock, own)) {
    const holder = readHolder(lock);
    if (holder !== undefined && isAlive(holder, lock)) return holder;
    // Of several that find a leftover, the one whose rename comes last stands; the others see it.
    const draft = `${lock}.${own.id}`;
    writeFileSync(draft, JSON.stringify(own));
    renameSync(draft, lock);
    const winner = readHolder(lock);
    if (winner !== undefined && winner.id !== own.id) return winner;
  }
  held.add(lock);
  const beat = setInterval(() => touch(lock), HEARTBEAT).unref();
  return {
    release() {
      clearInterval(beat);
      held.delete(lock);
      rmSync(lock, { force: true });
    },
  };
}

export function isHolder(taken: FileLock | Holder): taken is Holder {
  return 'pid' in taken;
}

function create(lock: string, own: Holder): boolean {
  try {
    writeFileSync(lock, JSON.stringify(own), { flag: 'wx' });
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  }
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
  if (host !== hostname()) return Date.now() - statSync(lock).mtimeMs < FRESH;
  if (pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
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
