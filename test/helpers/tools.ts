import { execFileSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../src/server/files.ts';

const FOLDER = join(packageRoot, 'test/tools');

/** A file of a package in test/tools. */
export const toolFile = (path: string): string => join(FOLDER, 'node_modules', path);

/** Installs the packages of test/tools, once for each state of its lock file. */
export function setup(): void {
  // npm writes this file at the end of an install.
  if (modified(toolFile('.package-lock.json')) > modified(join(FOLDER, 'package-lock.json')))
    return;
  const args = ['ci', '--no-audit', '--no-fund', '--loglevel=error'];
  execFileSync('npm', args, { cwd: FOLDER, stdio: 'inherit' });
}

function modified(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
