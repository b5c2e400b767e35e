// Builds dist/: the program and the library, the page, their types, and two files about the packages
// that are bundled. Everything is bundled, so that `npx` installs one package.

import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { isBuiltin } from 'node:module';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { licensePlugin } from 'rolldown-license-plugin';
import { build, mergeConfig } from 'vite';

const PAGE = 'features/dashboard';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));
const manifest = fs.readFileSync('package.json', 'utf8');
const { name, peerDependenciesMeta } = JSON.parse(manifest);

/** The files of dist/ that package.json names: one of src/ with another end. @param {string} end */
function named(end) {
  const names = manifest.matchAll(new RegExp(`dist/([^"\\s]+)\\.${end}"`, 'g'));
  return Array.from(names, ([, entry = '']) => entry);
}

/** @type {Map<string, import('rolldown-license-plugin').LicenseInfo>} */
const packages = new Map();
const licences = licensePlugin({
  done: (found) => {
    for (const one of found) packages.set(`${one.name}@${one.version}`, one);
  },
});

/** Fails where vite warns. @type {import('vite').InlineConfig} */
const common = {
  configFile: false,
  logLevel: 'warn',
  publicDir: false,
  plugins: [licences],
  build: {
    rolldownOptions: {
      checks: { bundlerTimings: false }, // a busy machine is slow
      onLog: (level, { message }) => {
        throw new Error(`${level}: ${message}`);
      },
    },
  },
};
/** Of what browsers run. @param {string} id */
const refuseNode = (id) => assert(!isBuiltin(id), `browsers have no ${id}`);
/** @param {import('vite').InlineConfig} config */
const bundle = (config) => build(mergeConfig(common, config));

const output = { entryFileNames: '[name].js', chunkFileNames: 'chunks/[name]-[hash].js' };
// What is loaded with a module is one chunk with it: from 55 files, a start took 1.4 times as long.
/** @type {(name: string, test: RegExp) => import('vite').Rolldown.OutputOptions} */
const inOneChunk = (name, test) => ({ codeSplitting: { groups: [{ name, test }] } });
const program = { ...output, ...inOneChunk('start', /src.cli.dispatch\.ts$/) };
const entries = named('js').filter((entry) => entry !== 'fetch');
const input = Object.fromEntries(entries.map((entry) => [entry, `src/${entry}.ts`]));
await bundle({
  ssr: {
    noExternal: true,
    // What test runners bring, and what the client of Redis loads where it is installed.
    external: [...Object.keys(peerDependenciesMeta), '@opentelemetry/api', '@node-rs/xxhash'],
  },
  build: { ssr: true, target: 'node20.19', rolldownOptions: { input, output: program } },
});
// Beside the next bundles; the one above has emptied the folder. More threads would do some work twice.
const declare = 'node_modules/typescript/bin/tsc --singleThreaded -p tsconfig.build.json';
const declared = promisify(execFile)(process.execPath, declare.split(' '));
/** What runs in browsers. @type {[folder: string, input: string, import('vite').Rolldown.OutputOptions][]} */
const forBrowsers = [
  ['.', 'fetch.ts', { ...output, ...inOneChunk('mock', /src.fetch\.ts$/) }],
  [PAGE, 'index.html', inOneChunk('page', /dashboard.dashboard\.tsx$/)],
  [PAGE, 'coverage-report.tsx', { format: 'iife', entryFileNames: 'report.js' }], // with its styles
];
for (const [folder, input, output] of forBrowsers) {
  if (!fs.existsSync(`src/${folder}/${input}`)) continue;
  await bundle({
    root: `src/${folder}`,
    base: './',
    ssr: { noExternal: true, target: 'webworker' },
    build: {
      ssr: folder === '.', // a library
      minify: true,
      outDir: `${process.cwd()}/dist/${folder}`,
      emptyOutDir: false, // The build above has emptied it.
      target: 'es2022',
      modulePreload: false,
      rolldownOptions: { input, output, preserveEntrySignatures: 'strict', external: refuseNode },
    },
  });
}
// Compressed once: browsers take it so, and the server sends the files as they are.
const assets = `dist/${PAGE}/assets/`;
for (const file of fs.existsSync(assets) ? fs.readdirSync(assets) : [])
  fs.writeFileSync(assets + file, gzipSync(fs.readFileSync(assets + file), { level: 9 }));
fs.chmodSync('dist/cli/main.js', 0o755);

await declared;
// Only Jest needs CommonJS: Node itself requires ES modules.
for (const entry of named('cjs'))
  for (const end of ['cjs', 'd.cts'])
    fs.copyFileSync(`src/${entry}.${end}`, `dist/${entry}.${end}`);

const sections = [...packages.values()].map((one) => {
  // The package of the Redis client leaves out the licence of its repository.
  const text = one.licenseText || fs.readFileSync(`scripts/licences/${one.name}.txt`, 'utf8');
  return `${'-'.repeat(80)}\n\n${one.name} ${one.version} (${one.license})\n\n${text.trim()}\n`;
});
sections.unshift(`${name} contains code of these packages:\n`);
fs.writeFileSync('dist/THIRD-PARTY-LICENSES.txt', sections.join('\n'));
fs.writeFileSync('dist/sbom.cdx.json', JSON.stringify(billOfMaterials()));

/**
 * What npm knows of the bundled packages, in CycloneDX, for tools that look for known vulnerabilities.
 * The same code gives the same file: it has no time, no random id, and no address.
 */
function billOfMaterials() {
  const args = 'sbom --sbom-format=cyclonedx --package-lock-only --offline --include=dev';
  // On Windows, npm is a script, which needs a shell.
  const shell = process.platform === 'win32';
  const text = execFileSync('npm', args.split(' '), { encoding: 'utf8', shell });
  const left = new Set(['serialNumber', 'timestamp', 'externalReferences', 'properties']);
  /** @typedef {{ 'bom-ref': string }} Component */
  /** @type {{ metadata: { component: Component }, components: Component[], dependencies: { ref: string, dependsOn: string[] }[] }} */
  const all = JSON.parse(text, (key, value) => (left.has(key) ? undefined : value));
  const used = all.components.filter((component) => packages.has(component['bom-ref']));
  const components = used.map((component) => ({ ...component, scope: 'required' }));
  const { component } = all.metadata;
  return {
    ...all,
    metadata: { ...all.metadata, component: { ...component, name } },
    components,
    // All of them are in the package itself.
    dependencies: [{ ref: component['bom-ref'], dependsOn: used.map((one) => one['bom-ref']) }],
  };
}
