import { cpSync, mkdirSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { packageRoot } from '../../src/files.ts';
import { temporaryFolder } from './folder.ts';

/** Copies the examples to a folder in which the built package and these others are installed. */
export function examplesProject(...packages: readonly string[]): string {
  const folder = temporaryFolder();
  const modules = join(folder, 'node_modules');
  cpSync(join(packageRoot, 'examples'), folder, { recursive: true });
  // A copy, so that what it imports is looked for here, and not in the modules of this project.
  for (const part of ['package.json', 'dist', 'fixtures', 'scenarios']) {
    cpSync(join(packageRoot, part), join(modules, 'petstore-mock', part), { recursive: true });
  }
  for (const name of packages) {
    const path = join(modules, name);
    mkdirSync(dirname(path), { recursive: true });
    symlinkSync(join(packageRoot, 'node_modules', name), path, 'junction');
  }
  return folder;
}
