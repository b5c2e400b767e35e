// Builds the dashboard over a mock that runs in the page, for any static host and below any path:
// node scripts/playground.mjs [FOLDER], by default playground/dist.

import { resolve } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';

await build({
  configFile: false,
  logLevel: 'error',
  publicDir: false,
  root: fileURLToPath(new URL('../playground', import.meta.url)),
  base: './',
  build: {
    outDir: resolve(process.argv[2] ?? 'playground/dist'),
    emptyOutDir: true,
    target: 'es2022',
    modulePreload: false,
  },
});
