import { existsSync, lstatSync, readlinkSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';

/** Changes whenever a file is written, touched or replaced; empty if there is none. */
export function fingerprint(path: string): string {
  try {
    const stats = statSync(path, { bigint: true });
    return `${stats.ino} ${stats.size} ${stats.mtimeNs}`;
  } catch {
    return '';
  }
}

/** The path of a file with links resolved, even if it does not exist yet. */
export function resolveLinks(path: string): string {
  if (existsSync(path)) return realpathSync(path);
  const folder = dirname(resolve(path));
  const real = join(existsSync(folder) ? realpathSync(folder) : folder, basename(path));
  const isLink = lstatSync(real, { throwIfNoEntry: false })?.isSymbolicLink() === true;
  return isLink ? resolveLinks(resolve(dirname(real), readlinkSync(real))) : real;
}
