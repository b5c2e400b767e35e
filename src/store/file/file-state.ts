import { statSync } from 'node:fs';

/** Changes whenever a file is written, touched or replaced; empty if there is none. */
export function stateOf(path: string): string {
  const stats = tried(() => statSync(path, { bigint: true }));
  return stats === undefined ? '' : `${stats.ino} ${stats.size} ${stats.mtimeNs}`;
}

/** What an action returns; undefined if it throws. */
export function tried<T>(action: () => T): T | undefined {
  try {
    return action();
  } catch {
    return undefined;
  }
}
