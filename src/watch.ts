import { fingerprint } from './store/files.ts';

export interface FileWatch {
  /** Watches these files instead; new ones count as unchanged. */
  follow(paths: readonly string[]): void;
  close(): void;
}

/**
 * Milliseconds between two checks of the files. A change is reported once a further check finds
 * nothing new: editors write in several steps.
 */
const POLL_INTERVAL_MS = 50;

/**
 * Watches files, which need not exist yet, by polling: events of the system differ between platforms,
 * and miss mounted folders and replaced files.
 *
 * @param onChange called after a change, one call at a time; must not reject
 */
export function watchFiles(
  paths: readonly string[],
  onChange: () => void | Promise<void>,
): FileWatch {
  let states = new Map(paths.map((path) => [path, fingerprint(path)]));
  let changed = false;
  let busy = false;

  const look = async (): Promise<void> => {
    if (busy) return;
    const before = states;
    states = new Map([...before.keys()].map((path) => [path, fingerprint(path)]));
    if ([...states].some(([path, state]) => before.get(path) !== state)) changed = true;
    else if (changed) {
      changed = false;
      busy = true;
      await onChange();
      busy = false;
    }
  };
  const timer = setInterval(look, POLL_INTERVAL_MS).unref();
  return {
    follow: (wanted) => {
      states = new Map(wanted.map((path) => [path, states.get(path) ?? fingerprint(path)]));
    },
    close: () => clearInterval(timer),
  };
}
