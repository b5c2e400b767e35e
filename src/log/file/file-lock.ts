import { existsSync, readFileSync, readlinkSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { codeOf } from '../../node-errors.ts';
import { internal, object } from '../../shape/objects.ts';
import { ANY_NUMBER, ANY_TEXT, readAs, type ValueOf } from '../../shape/shapes.ts';
import { stateOf, tryTo } from '../../store/file/files.ts';

/** Milliseconds without a heartbeat after which a lock is stale. */
const PATIENCE = 5_000;

/** Milliseconds between two looks at another server's lock. */
const LOOK = 100;

const { required, optional } = internal;

/** The content of a lock file. */
const HOLDER = object({
  pid: required(ANY_NUMBER),
  host: required(ANY_TEXT),
  /** When the lock was taken: ISO 8601. */
  since: optional(ANY_TEXT),
  /** Unique to each lock ever taken. */
  id: required(ANY_TEXT),
  /** The running kernel and its namespace of process ids, which containers do not share. */
  system: optional(ANY_TEXT),
  /** When the process began, which distinguishes it from a later one with its id. */
  began: optional(ANY_TEXT),
});

export type LockHolder = ValueOf<typeof HOLDER>;

export interface LockOptions {
  /** Milliseconds without a heartbeat after which a lock is stale; 5 seconds by default. */
  readonly patience?: number | undefined;
  /** Called once if another server takes the lock. */
  readonly onLost: () => void;
}

/**
 * A lock file that names its holder. Its modification time is the holder's heartbeat. The lock of a
 * process on the same system is stale as soon as that process has ended. Any other lock is stale if it
 * has no heartbeat while this server watches it.
 */
export class FileLock {
  /** The server that was killed while it held the lock. */
  readonly former: LockHolder | undefined;
  readonly #path: string;
  readonly #own: LockHolder;
  readonly #onLost: () => void;
  readonly #timer: NodeJS.Timeout;
  #isLost = false;

  private constructor(
    path: string,
    own: LockHolder,
    former: LockHolder | undefined,
    options: LockOptions,
  ) {
    const { patience = PATIENCE, onLost } = options;
    this.former = former;
    this.#path = path;
    this.#own = own;
    this.#onLost = onLost;
    this.#timer = setInterval(() => tryTo(() => this.#beat()), patience / 5).unref();
    process.on('exit', this.release);
  }

  /** @returns the holder if another server has the lock */
  static async take(path: string, options: LockOptions): Promise<FileLock | LockHolder> {
    const own = thisProcess();
    if (create(path, own)) return new FileLock(path, own, undefined, options);
    const former = readHolder(path);
    const isNear = former?.began !== undefined && own.system !== undefined;
    const isUsed =
      isNear && former.system === own.system
        ? beganAt(former.pid) === former.began
        : await hasHeartbeat(path, options.patience ?? PATIENCE);
    if (isUsed) return readHolder(path) ?? own;
    writeFileSync(path, JSON.stringify(own));
    // Another server may take the lock over at the same time: the last one has it.
    await sleep(LOOK);
    const holder = readHolder(path) ?? own;
    return holder.id === own.id ? new FileLock(path, own, former, options) : holder;
  }

  /** Whether another server was found to have the lock. */
  get isLost(): boolean {
    return this.#isLost;
  }

  /**
   * Whether this server has the lock; once false, always false.
   *
   * @param mayCreate whether to create a deleted lock file again
   */
  hold(mayCreate: () => boolean): boolean {
    if (this.#isLost) return false;
    if (this.#isOwn || (mayCreate() && create(this.#path, this.#own))) return true;
    this.#isLost = true;
    clearInterval(this.#timer);
    this.#onLost();
    return false;
  }

  readonly release = (): void => {
    clearInterval(this.#timer);
    process.off('exit', this.release);
    tryTo(() => this.#isOwn && rmSync(this.#path));
  };

  get #isOwn(): boolean {
    try {
      return readFileSync(this.#path, 'utf8') === JSON.stringify(this.#own);
    } catch (error) {
      // A lock that cannot be read for now is not lost.
      if (codeOf(error) === 'ENOENT') return false;
      throw error;
    }
  }

  /** Leaves it to the next change to create a deleted lock file again. */
  #beat(): void {
    const now = new Date();
    if (existsSync(this.#path) && this.hold(() => false)) utimesSync(this.#path, now, now);
  }
}

function create(path: string, own: LockHolder): boolean {
  try {
    writeFileSync(path, JSON.stringify(own), { flag: 'wx' });
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  }
}

/** Waits until a lock file is touched. */
async function hasHeartbeat(path: string, patience: number): Promise<boolean> {
  const before = stateOf(path);
  const end = performance.now() + patience;
  while (performance.now() < end) {
    await sleep(Math.min(LOOK, patience));
    const now = stateOf(path);
    if (now !== before) return now !== '';
  }
  return false;
}

function readHolder(path: string): LockHolder | undefined {
  const reading = tryTo(() => readAs(HOLDER, JSON.parse(readFileSync(path, 'utf8'))));
  return reading?.ok === true ? reading.value : undefined;
}

function thisProcess(): LockHolder {
  const { pid } = process;
  const system = tryTo(() => {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return `${boot} ${readlinkSync('/proc/self/ns/pid')}`;
  });
  const since = new Date().toISOString();
  return { pid, host: hostname(), since, id: crypto.randomUUID(), system, began: beganAt(pid) };
}

/** The start time of a process in ticks of the kernel; undefined if it has ended. See proc(5). */
function beganAt(pid: number): string | undefined {
  const stat = tryTo(() => readFileSync(`/proc/${pid}/stat`, 'utf8'));
  const [state = 'X', ...fields] = stat?.slice(stat.lastIndexOf(')') + 2).split(' ') ?? [];
  return 'ZX'.includes(state) ? undefined : fields[18];
}
