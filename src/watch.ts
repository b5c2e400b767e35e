import { type FSWatcher, realpathSync, statSync, watch } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';

/** A watch on files. */
export interface FileWatch {
  /**
   * Watches these files instead; new ones count as unchanged. Does nothing once closed, which can
   * happen while a change is handled.
   */
  follow(paths: readonly string[]): void;
  close(): void;
}

/** Milliseconds without another event before a change counts: editors write in several steps. */
const SETTLE = 50;

/**
 * Watches files through their folders, since many editors replace a file with a new one. A file that
 * does not exist is waited for if its folder exists.
 *
 * @param onChange called after a change, one call at a time; it must not reject
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
    // Other files that change all the time must not postpone it for ever.
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
      // The folder is gone, and its files with it.
      watchers.push(watcher.on('error', () => watcher.close()));
    }
    // Changes since the last check count, watched or not.
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

/** The folders to watch and the names in them, including the targets of symbolic links. */
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

/** Differs once a file was written or replaced; empty if there is none. */
function stateOf(file: string): string {
  try {
    const { ino, size, mtimeNs } = statSync(file, { bigint: true });
    return `${ino} ${size} ${mtimeNs}`;
  } catch {
    return '';
  }
}
