// Builds dist/: the program bundled by esbuild, its types, and the licences of what was bundled in.
//
// Bundling is for the start, and so the command is one file, in which what it imports dynamically is
// evaluated when it is wanted (measured: 20 chunks took 9 ms more to load). Express stays a
// package, imported when it is first wanted.

import { execFileSync } from 'node:child_process';
import { chmodSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { tsImport } from 'tsx/esm/api';

const root = fileURLToPath(new URL('..', import.meta.url));
const dist = join(root, 'dist');

/** The one build of yaml that is made of ES modules, so that it can be bundled. */
const YAML = './node_modules/yaml/browser/index.js';
const RE2JS = './node_modules/re2js/build/index.js';

rmSync(dist, { recursive: true, force: true });
/** @type {import('esbuild').BuildOptions} */
const common = {
  absWorkingDir: root,
  outbase: 'src',
  outdir: 'dist',
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  charset: 'utf8',
  legalComments: 'none', // dist/THIRD-PARTY-LICENSES.txt has them
  external: ['express', '../names.js'],
  alias: { 'string-width': './scripts/string-width.mjs' },
  logLevel: 'warning',
};

/**
 * yaml and re2js stay files of their own beside the command, read when a scenario or a pattern is.
 * @type {import('esbuild').Plugin}
 */
const apart = {
  name: 'apart',
  setup({ onResolve }) {
    onResolve({ filter: /^(?:re2js|yaml)$/ }, ({ path }) => ({
      path: `../${path}.js`,
      external: true,
    }));
  },
};

/**
 * The names that generated animals are drawn from, in place of the package that they come from.
 * @type {import('esbuild').Plugin}
 */
const namesApart = {
  name: 'names-apart',
  setup({ onLoad }) {
    const contents = "export const loadNames = async () => (await import('../names.js')).names;";
    onLoad({ filter: /\/src\/store\/fixture\/names\.ts$/ }, () => ({ contents, loader: 'js' }));
  },
};

const builds = await Promise.all([
  build({
    ...common,
    entryPoints: ['src/cli/main.ts'],
    plugins: [apart, namesApart],
    // Less to parse at every start.
    minify: true,
    metafile: true,
  }),
  build({ ...common, entryPoints: { re2js: RE2JS, yaml: YAML }, metafile: true }),
  build({
    ...common,
    alias: { ...common.alias, yaml: YAML },
    entryPoints: ['src/index.ts', 'src/library/vitest.ts', 'src/library/playwright.ts'],
    external: [...(common.external ?? []), 'vitest', '@playwright/test'],
    plugins: [namesApart],
    chunkNames: 'chunks/[name]-[hash]',
    splitting: true,
    metafile: true,
  }),
]);
const { loadNames } = await tsImport('../src/store/fixture/names.ts', import.meta.url);
writeFileSync(
  join(dist, 'names.js'),
  `export const names = ${JSON.stringify(await loadNames())};\n`,
);

const outputs = builds.flatMap(({ metafile }) => Object.values(metafile.outputs));
chmodSync(join(dist, 'cli/main.js'), 0o755);

const tsc = join(root, 'node_modules/typescript/bin/tsc');
execFileSync(process.execPath, [tsc, '-p', 'tsconfig.build.json'], { cwd: root, stdio: 'inherit' });

writeFileSync(join(dist, 'THIRD-PARTY-LICENSES.txt'), licences(bundledPackages()));

/** The folders of the packages that have code in the output. */
function bundledPackages() {
  const files = outputs.flatMap(({ inputs }) => Object.keys(inputs));
  const folders = files.flatMap((file) => file.match(/^.*node_modules\/(?:@[^/]+\/)?[^/]+/) ?? []);
  folders.push('node_modules/@faker-js/faker'); // dist/names.js
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
