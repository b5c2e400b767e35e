// npm runs this after `npm ci` in a clone, and for every project that has the repository as a dependency,
// from git or as a folder. Users of the package do not get here: it is built.

import { execSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));
// npm links a folder without installing what builds it, and passes on what it was asked to omit.
if (!existsSync('node_modules/vite'))
  execSync('npm ci --include=dev --ignore-scripts --no-audit --no-fund', { stdio: 'inherit' });
await import('./build.mjs');
