import {
  linkSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { codeOf } from '../../error-code.ts';
import { stateOf, tried } from './file-state.ts';

/** Milliseconds between two heartbeats. */
const HEARTBEAT = 1_000;

/** Milliseconds without a heartbeat after which a lock is stale. */
const PATIENCE = 5_000;

/** Milliseconds between two checks of another process's lock. */
const LOOK = 100;

/** A process. */
export interface ProcessIdentity {
  readonly pid: number;
  readonly host: string;
  /** The running kernel and its namespace of process ids; undefined if the system does not name them. */
  readonly system?: string | undefined;
  /** The start time in ticks of the kernel. Distinguishes a process from a later one with its id. */
  readonly began?: string | undefined;
}

/** The content of a lock file. */
export interface Holder extends ProcessIdentity {
  /** Unique to each lock ever taken. */
  readonly id: string;
  /** When the lock was taken: ISO 8601. */
  readonly since?: string | undefined;
}

export interface LockOptions {
  /** The process that takes the lock. */
  readonly self?: ProcessIdentity | undefined;
  /** Milliseconds without a heartbeat after which a lock is stale. */
  readonly patience?: number | undefined;
  /** Called once if another process takes the lock. */
  readonly onLost?: (() => void) | undefined;
}

/** A lock that this process holds. */
export interface FileLock {
  /** The process that was killed while it held the lock. */
  readonly former: Holder | undefined;
  /**
   * Runs an action that only the holder may run, such as replacing the file.
   *
   * @returns false, without running it, if the lock was lost
   */
  guard(action: () => void): boolean;
  /** Whether this process still holds the lock. */
  isHeld(): boolean;
  release(): void;
}

/**
 * Locks a file with a lock file beside it, which names the holder. Its modification time is the
 * holder's heartbeat. The lock of a process on the same system is stale as soon as that process has
 * ended. Any other lock is stale if it has no heartbeat while this process watches it.
 *
 * @param path of the file, with links resolved
 * @returns the holder if another process has the lock
 */
export async function takeLock(
  path: string,
  options: LockOptions = {},
): Promise<FileLock | Holder> {
  const { self = thisProcess(), patience = PATIENCE } = options;
  const lock = `${path}.lock`;
  const own = { ...self, id: crypto.randomUUID(), since: new Date().toISOString() };
  if (create(lock, own)) return hold(path, own, undefined, options);
  const holder = readHolder(lock);
  const runs = holder && isRunning(holder, self);
  if (holder !== undefined && runs === true) return holder;
  if (runs === undefined && (await hasHeartbeat(lock, patience))) return readHolder(lock) ?? own;
  setAside(lock, holder?.id);
  if (!create(lock, own)) return readHolder(lock) ?? own;
  return hold(path, own, holder, options);
}

function hold(
  path: string,
  own: Holder,
  former: Holder | undefined,
  { patience = PATIENCE, onLost = () => {} }: LockOptions,
): FileLock {
  const lock = `${path}.lock`;
  const isOwn = (): boolean => readHolder(lock)?.id === own.id;
  let beatAt = performance.now();
  let state = stateOf(path);
  let lost = false;

  /** Creates a deleted lock file again, unless the file has changed since. */
  const retake = (): boolean => {
    if (!create(lock, own)) return false;
    const found = stateOf(path);
    if (found === '' || found === state) return true;
    rmSync(lock, { force: true });
    return false;
  };
  /** Updates the heartbeat, unless the lock was lost. */
  const beat = (): boolean => {
    if (lost) return false;
    // Others may already count this lock as stale: whoever moves the file first wins.
    if (performance.now() - beatAt > patience / 2) setAside(lock, own.id);
    if (isOwn() || retake()) {
      const now = new Date();
      utimesSync(lock, now, now);
      beatAt = performance.now();
      return true;
    }
    lost = true;
    clearInterval(timer);
    onLost();
    return false;
  };
  // The next write reports a folder that cannot be used.
  const timer = setInterval(() => tried(beat), Math.min(HEARTBEAT, patience / 5)).unref();
  const release = (): void => {
    clearInterval(timer);
    process.off('exit', release);
    if (!lost && isOwn()) rmSync(lock, { force: true });
  };
  process.on('exit', release);
  return {
    former,
    guard(action) {
      if (!beat()) return false;
      action();
      state = stateOf(path);
      return true;
    },
    isHeld: () => !lost && (isOwn() || beat()),
    release,
  };
}

/** Creates the lock file together with its content, so that nobody reads an empty one. */
function create(lock: string, own: Holder): boolean {
  const draft = `${lock}.${crypto.randomUUID()}`;
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

/** Removes the lock file of one lock, but not one that another process created meanwhile. */
function setAside(lock: string, id: string | undefined): void {
  const aside = `${lock}.${crypto.randomUUID()}`;
  try {
    renameSync(lock, aside);
    if (readHolder(aside)?.id !== id) linkSync(aside, lock);
  } catch (error) {
    // Another process was faster.
    if (codeOf(error) !== 'ENOENT' && codeOf(error) !== 'EEXIST') throw error;
  } finally {
    rmSync(aside, { force: true });
  }
}

/** Waits until a lock file is touched or replaced. */
async function hasHeartbeat(lock: string, patience: number): Promise<boolean> {
  const before = stateOf(lock);
  const end = performance.now() + patience;
  while (performance.now() < end) {
    await sleep(Math.min(LOOK, patience));
    const now = stateOf(lock);
    if (now !== before) return now !== '';
  }
  return false;
}

function readHolder(lock: string): Holder | undefined {
  const { pid, host, id, since, system, began }: Record<string, unknown> =
    tried(() => JSON.parse(readFileSync(lock, 'utf8'))) ?? {};
  if (typeof pid !== 'number' || typeof host !== 'string' || typeof id !== 'string') return;
  const text = (value: unknown) => (typeof value === 'string' ? value : undefined);
  return { pid, host, id, since: text(since), system: text(system), began: text(began) };
}

/** This process. Containers often share a process id and a host name, but not a namespace. */
export function thisProcess(): ProcessIdentity {
  const { pid } = process;
  const system = tried(() => {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return `${boot} ${readlinkSync('/proc/self/ns/pid')}`;
  });
  return { pid, host: hostname(), system, began: beganAt(pid) };
}

/** Whether a process runs. Undefined if it is on another machine, container or kernel than `self`. */
function isRunning(
  { pid, system, began }: ProcessIdentity,
  self: ProcessIdentity,
): boolean | undefined {
  if (system === undefined || began === undefined || system !== self.system) return undefined;
  return beganAt(pid) === began;
}

/** The start time of a process; undefined if it has ended. See proc(5). */
function beganAt(pid: number): string | undefined {
  const stat = tried(() => readFileSync(`/proc/${pid}/stat`, 'utf8'));
  const [state = 'X', ...fields] = stat?.slice(stat.lastIndexOf(')') + 2).split(' ') ?? [];
  return 'ZX'.includes(state) ? undefined : fields[18];
}
