import { type FSWatcher, realpathSync, statSync, watch } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';

/** Files that are watched for changes. */
export interface FileWatch {
  /**
   * Watches these files in place of the others; the new ones count as unchanged. Does nothing once
   * it is closed, which can happen while a change is being dealt with.
   */
  follow(paths: readonly string[]): void;
  close(): void;
}

/** Milliseconds from the last sign of a change: an editor writes in several steps. */
const SETTLE = 50;

/**
 * Watches files through the folders that they are in, since many editors put a new file in the place
 * of the old one. A file that does not exist is waited for where its folder does.
 *
 * @param onChange called after a change, and never twice at the same time; it must not reject
 */
export function watchFiles(
  paths: readonly string[],
  onChange: () => void | Promise<void>,
): FileWatch {
  let watchers: FSWatcher[] = [];
  let states = new Map<string, string>();
  let timer: NodeJS.Timeout | undefined;
  let closed = false;
  let running = Promise.resolve();

  const settle = () => {
    timer = undefined;
    const before = states;
    states = new Map([...before.keys()].map((file) => [file, stateOf(file)]));
    if ([...states].some(([path, state]) => before.get(path) !== state)) {
      running = running.then(onChange);
    }
  };

  const onSign = (names: ReadonlySet<string>, name: string | null) => {
    // A folder in which something else is written all the time must not put it off for ever.
    if (timer !== undefined && name !== null && !names.has(name)) return;
    clearTimeout(timer);
    timer = setTimeout(settle, SETTLE);
  };

  const stop = () => {
    for (const watcher of watchers) watcher.close();
    watchers = [];
    clearTimeout(timer);
    timer = undefined;
  };

  const follow = (wanted: readonly string[]) => {
    stop();
    if (closed) return;
    const files = [...new Set(wanted.map((path) => resolve(path)))];
    for (const [folder, names] of foldersOf(files)) {
      const watcher = watch(folder, (_event, name) => onSign(names, name));
      // The folder is gone, and its files with it: there is nothing left to see in it.
      watchers.push(watcher.on('error', () => watcher.close()));
    }
    // What has changed since it was last looked at has changed, also if nobody watched meanwhile.
    states = new Map(files.map((file) => [file, states.get(file) ?? stateOf(file)]));
    timer = setTimeout(settle, SETTLE);
  };

  follow(paths);
  const close = () => {
    closed = true;
    stop();
  };
  return { follow, close };
}

/** The folders to watch, and the names in them: also those that symbolic links lead to. */
function foldersOf(files: readonly string[]): Map<string, Set<string>> {
  const folders = new Map<string, Set<string>>();
  for (const file of files.flatMap((it) => [it, realPathOf(it)])) {
    const names = folders.get(dirname(file));
    if (names === undefined) folders.set(dirname(file), new Set([basename(file)]));
    else names.add(basename(file));
  }
  return folders;
}

function realPathOf(file: string): string {
  try {
    return realpathSync(file);
  } catch {
    return file;
  }
}

/** What differs once a file has been written or replaced; empty where there is none. */
function stateOf(file: string): string {
  try {
    const { ino, size, mtimeNs } = statSync(file, { bigint: true });
    return `${ino} ${size} ${mtimeNs}`;
  } catch {
    return '';
  }
}
