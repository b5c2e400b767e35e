import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { packageRoot } from '../../src/package.ts';

export interface Project {
  readonly folder: string;
  /** The script of a package that the project has. */
  readonly bin: (path: string) => string;
  readonly remove: () => void;
}

/** Copies the examples to a folder in which the built package and these others are installed. */
export function projectOfExamples(...packages: readonly string[]): Project {
  const folder = mkdtempSync(join(tmpdir(), 'examples-'));
  cpSync(join(packageRoot, 'examples'), folder, { recursive: true });
  const modules = join(folder, 'node_modules');
  const link = (target: string, name: string): void => {
    const path = join(modules, name);
    mkdirSync(dirname(path), { recursive: true });
    symlinkSync(target, path, 'junction');
  };
  link(packageRoot, 'petstore-mock');
  for (const name of packages) link(join(packageRoot, 'node_modules', name), name);
  return {
    folder,
    bin: (path) => join(packageRoot, 'node_modules', path),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
