import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of this package: found by walking up, since bundling moves files. */
export const packageRoot = findRoot(dirname(fileURLToPath(import.meta.url)));

/** The name in package.json. Read at the first call, so that it costs a start nothing. */
export function packageName(): string {
  return manifestText('name');
}

/** The version in package.json. Read at the first call, so that it costs a start nothing. */
export function packageVersion(): string {
  return manifestText('version');
}

let manifest: unknown;

function manifestText(member: string): string {
  manifest ??= JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8'));
  const value: unknown = Object.entries(Object(manifest)).find(([name]) => name === member)?.[1];
  if (typeof value !== 'string') throw new Error(`package.json in ${packageRoot} has no ${member}`);
  return value;
}

function findRoot(folder: string): string {
  if (existsSync(join(folder, 'package.json'))) return folder;
  const parent = dirname(folder);
  if (parent === folder) throw new Error('There is no package.json above this program.');
  return findRoot(parent);
}
