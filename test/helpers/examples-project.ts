import { cpSync, mkdirSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { packageRoot } from '../../src/package.ts';
import { temporaryFolder } from './folder.ts';

/** Copies the examples to a folder in which the built package and these others are installed. */
export function examplesProject(...packages: readonly string[]): string {
  const folder = temporaryFolder();
  cpSync(join(packageRoot, 'examples'), folder, { recursive: true });
  const link = (target: string, name: string): void => {
    const path = join(folder, 'node_modules', name);
    mkdirSync(dirname(path), { recursive: true });
    symlinkSync(target, path, 'junction');
  };
  link(packageRoot, 'petstore-mock');
  for (const name of packages) link(join(packageRoot, 'node_modules', name), name);
  return folder;
}
