import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of this package, found by walking up, since bundling moves files. */
export const packageRoot = findRoot(dirname(fileURLToPath(import.meta.url)));

/** The version in package.json, read at the first call to keep the start fast. */
export function packageVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8'));
  const version: unknown = Object(manifest).version;
  if (typeof version !== 'string') throw new Error(`package.json in ${packageRoot} has no version`);
  return version;
}

function findRoot(folder: string): string {
  if (existsSync(join(folder, 'package.json'))) return folder;
  const parent = dirname(folder);
  if (parent === folder) throw new Error('There is no package.json above this program.');
  return findRoot(parent);
}
