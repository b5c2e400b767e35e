import { existsSync, lstatSync, readlinkSync, realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';

/** The path of a file with links resolved, even if it does not exist yet. */
export function resolveLinks(path: string): string {
  if (existsSync(path)) return realpathSync(path);
  const folder = dirname(resolve(path));
  const real = join(existsSync(folder) ? realpathSync(folder) : folder, basename(path));
  const isLink = lstatSync(real, { throwIfNoEntry: false })?.isSymbolicLink() === true;
  return isLink ? resolveLinks(resolve(dirname(real), readlinkSync(real))) : real;
}
