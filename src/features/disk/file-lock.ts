import { lstatSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { type LockOptions, lock } from 'proper-lockfile';
import { errorCode } from '../../core/thrown.ts';

/** After so many milliseconds without a heartbeat, a server counts as crashed. */
const STALE_AFTER_MS = 10_000;

const HEARTBEAT_MS = 1000;

const LOOK_AGAIN_MS = 250;

export interface FileLock {
  /** Whether somebody took or deleted the lock, which can happen while this process is paused. */
  readonly isLost: () => boolean;
  readonly release: () => Promise<void>;
}

/**
 * Takes the lock. If its holder seems to have crashed, waits until its heartbeat is old enough.
 *
 * @param onSilence called once if the holder seems to have crashed
 * @returns undefined if another server has the lock
 */
export async function lockFile(path: string, onSilence: () => void): Promise<FileLock | undefined> {
  let isLost = false;
  let heartbeat: number | undefined;
  for (let waited = 0; waited <= STALE_AFTER_MS + 2 * HEARTBEAT_MS; waited += LOOK_AGAIN_MS) {
    try {
      const release = await lockAlone(path, () => {
        isLost = true;
      });
      return { isLost: () => isLost, release: async () => (isLost ? undefined : release()) };
    } catch (error) {
      if (errorCode(error) !== 'ELOCKED') throw error;
    }
    // Watch for a change, because another machine's clock may differ from this one's.
    const latest = lstatSync(path, { throwIfNoEntry: false })?.mtimeMs;
    if (latest !== undefined && latest !== (heartbeat ?? latest)) return undefined;
    heartbeat = latest;
    if (waited === 2 * HEARTBEAT_MS) onSilence();
    await sleep(LOOK_AGAIN_MS);
  }
  return undefined;
}

/**
 * Takes the lock under a guard lock. The library checks a stale lock and removes it in two steps,
 * between which another server could take it.
 */
async function lockAlone(path: string, onCompromised: () => void): Promise<() => Promise<void>> {
  const options: LockOptions = { realpath: false, stale: STALE_AFTER_MS, update: HEARTBEAT_MS };
  const guard = `${path}.guard`;
  const release = await lock(guard, { ...options, lockfilePath: guard, onCompromised: () => {} });
  try {
    return await lock(path, { ...options, lockfilePath: path, onCompromised });
  } finally {
    // It does not matter if the guard is already gone.
    await release().catch(() => {});
  }
}
