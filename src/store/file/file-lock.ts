import {
  linkSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { codeOf } from '../../error-code.ts';
import { isRunning, type ProcessIdentity, thisProcess } from './process-identity.ts';

/** Milliseconds between two signs of life of a holder. */
const HEARTBEAT = 1_000;

/** Milliseconds without a sign of life until a lock counts as abandoned. */
const PATIENCE = 5_000;

/** Milliseconds between two looks at somebody else's lock. */
const LOOK = 100;

/** Who holds a lock, as the lock file says it. */
export interface Holder extends ProcessIdentity {
  /** Another one for each lock ever taken. */
  readonly id: string;
  /** When it was taken: ISO 8601. */
  readonly since?: string | undefined;
}

export interface LockOptions {
  /** Who takes the lock. */
  readonly self?: ProcessIdentity | undefined;
  /** Milliseconds without a sign of life until a lock counts as abandoned. */
  readonly patience?: number | undefined;
  /** Called once, when the lock was lost to another process. */
  readonly onLost?: (() => void) | undefined;
}

/**
 * Takes the lock on a file: a lock file beside it that names the holder, and whose modification time
 * is the holder's heartbeat. Whether a process of the same system runs is known at once. Any other
 * holder is watched for a heartbeat, by this process's own clock.
 *
 * @param path of the file, with links resolved
 * @returns the holder where another process has it
 */
export async function takeLock(
  path: string,
  options: LockOptions = {},
): Promise<FileLock | Holder> {
  const { self = thisProcess(), patience = PATIENCE } = options;
  const lock = `${path}.lock`;
  const own = { ...self, id: crypto.randomUUID(), since: new Date().toISOString() };
  if (!create(lock, own)) {
    const holder = readHolder(lock);
    const alive = holder && isRunning(holder, self);
    if (holder !== undefined && alive === true) return holder;
    if (alive === undefined && (await hasHeartbeat(lock, patience))) {
      return readHolder(lock) ?? own;
    }
    setAside(lock, holder?.id);
    if (!create(lock, own)) return readHolder(lock) ?? own;
  }
  return new FileLock(path, own, { ...options, patience });
}

/** A lock that this process has taken. */
export class FileLock {
  readonly #path: string;
  readonly #lock: string;
  readonly #own: Holder;
  readonly #patience: number;
  readonly #onLost: () => void;
  readonly #timer: NodeJS.Timeout;
  readonly #onExit = () => this.release();
  #beatAt = performance.now();
  /** Names the file as this process left it. */
  #state: string;
  #lost = false;

  constructor(
    path: string,
    own: Holder,
    { patience, onLost = () => {} }: LockOptions & { patience: number },
  ) {
    this.#path = path;
    this.#lock = `${path}.lock`;
    this.#own = own;
    this.#patience = patience;
    this.#onLost = onLost;
    this.#state = stateOf(path);
    this.#timer = setInterval(() => this.#beat(), Math.min(HEARTBEAT, patience / 5)).unref();
    process.on('exit', this.#onExit);
  }

  /**
   * Does what only the holder may do to the file, such as replacing it.
   *
   * @returns false, with nothing done, where the lock was lost
   */
  guard(action: () => void): boolean {
    if (!this.#isHeld()) return false;
    action();
    this.#state = stateOf(this.#path);
    return true;
  }

  release(): void {
    clearInterval(this.#timer);
    process.off('exit', this.#onExit);
    if (!this.#lost && readHolder(this.#lock)?.id === this.#own.id) {
      rmSync(this.#lock, { force: true });
    }
  }

  #beat(): void {
    try {
      this.#isHeld();
    } catch {
      // The folder cannot be used for now. The next write will say so.
    }
  }

  /** Shows that the holder lives, unless the lock was lost. */
  #isHeld(): boolean {
    if (this.#lost) return false;
    // Others may have given this process up: who moves the lock file first wins.
    if (performance.now() - this.#beatAt > this.#patience / 2) setAside(this.#lock, this.#own.id);
    if (readHolder(this.#lock)?.id === this.#own.id || this.#retake()) {
      const now = new Date();
      utimesSync(this.#lock, now, now);
      this.#beatAt = performance.now();
      return true;
    }
    this.#lost = true;
    clearInterval(this.#timer);
    this.#onLost();
    return false;
  }

  /** Makes the lock file anew where it was removed, unless the file was changed without it. */
  #retake(): boolean {
    if (!create(this.#lock, this.#own)) return false;
    const state = stateOf(this.#path);
    if (state === '' || state === this.#state) return true;
    rmSync(this.#lock, { force: true });
    return false;
  }
}

/** Makes the lock file together with its content, so that nobody finds it empty. */
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

/** Moves a lock file away, but not the lock of a process that was faster. */
function setAside(lock: string, id: string | undefined): void {
  const aside = `${lock}.${crypto.randomUUID()}`;
  try {
    renameSync(lock, aside);
    if (readHolder(aside)?.id !== id) linkSync(aside, lock);
  } catch (error) {
    // Another process has moved it away, or made a new one, in the meantime.
    if (codeOf(error) !== 'ENOENT' && codeOf(error) !== 'EEXIST') throw error;
  } finally {
    rmSync(aside, { force: true });
  }
}

/** Waits for a sign of life: a lock file that is touched or replaced. */
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

/** Differs once a file was written, touched or replaced; empty where there is none. */
function stateOf(path: string): string {
  const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stats === undefined ? '' : `${stats.ino} ${stats.size} ${stats.mtimeNs}`;
}

function readHolder(lock: string): Holder | undefined {
  try {
    const { pid, host, id, ...rest }: Record<string, unknown> = JSON.parse(
      readFileSync(lock, 'utf8'),
    );
    if (typeof pid !== 'number' || typeof host !== 'string' || typeof id !== 'string') return;
    const text = (value: unknown) => (typeof value === 'string' ? value : undefined);
    const { since, system, began } = rest;
    return { pid, host, id, since: text(since), system: text(system), began: text(began) };
  } catch {
    return undefined;
  }
}
