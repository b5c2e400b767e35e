// Builds dist/: the program bundled by esbuild, its types, and the licences of what was bundled in.
//
// Bundling is for the start: own code and the small packages become a few files. Express and faker
// stay packages, imported when first wanted. Whatever own code imports dynamically stays a chunk.

import { execFileSync } from 'node:child_process';
import { chmodSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));
const dist = join(root, 'dist');

rmSync(dist, { recursive: true, force: true });
const { metafile } = await build({
  absWorkingDir: root,
  entryPoints: ['src/cli/main.ts', 'src/index.ts'],
  outbase: 'src',
  outdir: 'dist',
  chunkNames: 'chunks/[name]-[hash]',
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  charset: 'utf8',
  legalComments: 'none', // dist/THIRD-PARTY-LICENSES.txt has them
  external: ['express', '@faker-js/faker'],
  alias: { 'string-width': './scripts/string-width.mjs' },
  metafile: true,
  logLevel: 'warning',
});
chmodSync(join(dist, 'cli/main.js'), 0o755);

const tsc = join(root, 'node_modules/typescript/bin/tsc');
execFileSync(process.execPath, [tsc, '-p', 'tsconfig.build.json'], { cwd: root, stdio: 'inherit' });

writeFileSync(join(dist, 'THIRD-PARTY-LICENSES.txt'), licences(bundledPackages(metafile)));

/**
 * The folders of the packages that have code in the output.
 * @param {import('esbuild').Metafile} metafile
 */
function bundledPackages({ outputs }) {
  const files = Object.values(outputs).flatMap(({ inputs }) => Object.keys(inputs));
  const folders = files.flatMap((file) => file.match(/^.*node_modules\/(?:@[^/]+\/)?[^/]+/) ?? []);
  return [...new Set(folders)].sort();
}

/** @param {string[]} folders */
function licences(folders) {
  const sections = folders.map((folder) => {
    const path = join(root, folder);
    const { name, version, license } = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8'));
    const file = readdirSync(path).find((entry) => /^licen[cs]e/i.test(entry));
    if (!file) throw new Error(`${name}@${version} is bundled into dist/ and has no licence file`);
    return `${name} ${version} (${license})\n\n${readFileSync(join(path, file), 'utf8').trim()}\n`;
  });
  const head = 'petstore-mock contains code of these packages:\n';
  return [head, ...new Set(sections)].join(`\n${'-'.repeat(80)}\n\n`);
}
