// Builds dist/: the bundled program, its types, and the licences of the packages in the bundle.
//
// Everything is bundled, so that `npx` installs one package. The command is a single file: 20 chunks
// took 9 ms longer to load. What only some starts need is in files of its own, which package.json
// names in `imports`.

import { execFileSync } from 'node:child_process';
import { chmodSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { tsImport } from 'tsx/esm/api';
import { buildDashboard } from './build-dashboard.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const dist = join(root, 'dist');
const { imports, peerDependencies } = readJson('package.json');

/** The sources of the files that package.json names in `imports`. */
const YAML = 'node_modules/yaml/browser/index.js'; // the only build of yaml in ES modules
const RE2JS = 'node_modules/re2js/build/index.js';
/** The command, in a file of its own: Node's compile cache holds only what is imported after it. */
const COMMAND = './command.js';
/** Makes the certificate of `--tls`. */
const CERTIFICATE = 'src/http/tls/draw-certificate.ts';
const EXPRESS = 'node_modules/express/index.js';

/**
 * Modules that are replaced by others when bundled.
 * @type {import('esbuild').Plugin}
 */
const replaced = {
  name: 'replaced',
  setup({ onLoad, onResolve }) {
    onResolve({ filter: /^(?:express|re2js|yaml)$/ }, ({ path, kind }) =>
      kind === 'entry-point' ? undefined : { path: `#${path}`, external: true },
    );
    // What yargs does at each start for callers without types: it checks their arguments, and looks
    // for its settings in a package.json above the working directory.
    onLoad({ filter: /\/yargs\/build\/lib\/argsert\.js$/ }, () => ({
      contents: 'export const argsert = () => {};',
    }));
    onLoad({ filter: /\/escalade\/sync\/index\.mjs$/ }, () => ({
      contents: 'export default () => undefined;',
    }));
    onResolve({ filter: /^\.\/draw-certificate\.ts$/ }, () => ({
      path: '#certificate',
      external: true,
    }));
    onResolve({ filter: /^\.\/main\.ts$/ }, () => ({ path: COMMAND, external: true }));
    // The names of generated animals instead of the package that they come from.
    onLoad({ filter: /\/src\/store\/fixture\/names\.ts$/ }, () => ({
      contents: "export const loadNames = async () => (await import('#names')).names;",
    }));
    // The coloured debug output and the body parsers of express: nothing here uses them.
    onResolve({ filter: /^(?:supports-color|body-parser)$/ }, ({ path }) => {
      return { path, namespace: 'empty' };
    });
    onLoad({ filter: /.*/, namespace: 'empty' }, () => ({ contents: '' }));
  },
};

/** @type {import('esbuild').BuildOptions & { metafile: true }} */
const common = {
  absWorkingDir: root,
  outbase: 'src',
  outdir: 'dist',
  bundle: true,
  minify: true, // less to download, and less to parse at every start
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  charset: 'utf8',
  legalComments: 'none', // dist/THIRD-PARTY-LICENSES.txt contains them
  external: ['#*', ...Object.keys(peerDependencies)],
  alias: { 'string-width': './scripts/string-width.mjs' },
  plugins: [replaced],
  logLevel: 'warning',
  metafile: true,
};

rmSync(dist, { recursive: true, force: true });
const builds = await Promise.all([
  build({
    ...common,
    entryPoints: { 'cli/main': 'src/cli/bin.ts', 'cli/command': 'src/cli/main.ts' },
  }),
  build({ ...common, entryPoints: { certificate: CERTIFICATE, re2js: RE2JS, yaml: YAML } }),
  build({
    ...common,
    entryPoints: { express: EXPRESS },
    format: 'cjs',
    outExtension: { '.js': '.cjs' },
  }),
  build({
    ...common,
    entryPoints: ['src/index.ts', 'src/library/vitest.ts', 'src/library/playwright.ts'],
    minify: false, // readable in the stack traces of a test that uses the library
    chunkNames: 'chunks/[name]-[hash]',
    splitting: true,
  }),
]);
const { loadNames } = await tsImport('../src/store/fixture/names.ts', import.meta.url);
const names = `export const names = ${JSON.stringify(await loadNames())};\n`;
writeFileSync(join(dist, 'names.js'), names);

const metafiles = [...builds.map(({ metafile }) => metafile), await buildDashboard()];
const outputs = metafiles.flatMap((metafile) => Object.entries(metafile.outputs));
checkImports();
chmodSync(join(dist, 'cli/main.js'), 0o755);
const tsc = join(root, 'node_modules/typescript/bin/tsc');
execFileSync(process.execPath, [tsc, '-p', 'tsconfig.build.json'], { cwd: root, stdio: 'inherit' });
writeFileSync(join(dist, 'THIRD-PARTY-LICENSES.txt'), licences(bundledPackages()));

/** Fails where the output imports what a user would have to install. */
function checkImports() {
  const known = [COMMAND, ...Object.keys(imports), ...Object.keys(peerDependencies)];
  const missing = outputs.flatMap(([file, output]) =>
    output.imports
      .filter(({ external, path }) => external && !isBuiltin(path))
      .filter(({ path }) => !known.some((name) => path === name || path.startsWith(`${name}/`)))
      .map(({ path }) => `${file} imports ${path}, which is neither bundled nor part of Node`),
  );
  if (missing.length > 0) throw new Error(missing.join('\n'));
}

/** The folders of the packages that have code in the output. */
function bundledPackages() {
  const files = outputs.flatMap(([, { inputs }]) => Object.keys(inputs));
  const folders = files.flatMap((file) => file.match(/^.*node_modules\/(?:@[^/]+\/)?[^/]+/) ?? []);
  folders.push('node_modules/@faker-js/faker'); // dist/names.js
  return [...new Set(folders)].sort();
}

/** @param {string[]} folders */
function licences(folders) {
  const sections = folders.map((folder) => {
    const { name, version, license } = readJson(join(folder, 'package.json'));
    const file = readdirSync(join(root, folder)).find((entry) => /^licen[cs]e/i.test(entry));
    if (!file) throw new Error(`${name}@${version} is bundled and has no licence file`);
    const text = readFileSync(join(root, folder, file), 'utf8').trim();
    return `${name} ${version} (${license})\n\n${text}\n`;
  });
  const head = 'petstore-mock contains code of these packages:\n';
  return [head, ...new Set(sections)].join(`\n${'-'.repeat(80)}\n\n`);
}

/** @param {string} file */
function readJson(file) {
  return JSON.parse(readFileSync(join(root, file), 'utf8'));
}
