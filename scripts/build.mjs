// Builds dist/: the program and the library, the page, their types, and two files about the packages
// that are bundled. Everything is bundled, so that `npx` installs one package.

import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { isBuiltin } from 'node:module';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { licensePlugin } from 'rolldown-license-plugin';
import { build } from 'vite';

const PAGE = 'features/dashboard';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));
const manifest = readFileSync('package.json', 'utf8');
const { name, peerDependenciesMeta } = JSON.parse(manifest);

/**
 * The files of dist/ that package.json names: each is a file of src/ with another suffix.
 * @param {string} suffix
 */
const named = (suffix) =>
  [...manifest.matchAll(/"(?:\.\/)?dist\/([^"]+)\.(\w+)"/g)].flatMap(([, entry = '', end]) =>
    end === suffix ? entry : [],
  );

/** @type {Map<string, import('rolldown-license-plugin').LicenseInfo>} */
const packages = new Map();

const licences = licensePlugin({
  done: (found) => {
    for (const one of found) packages.set(`${one.name}@${one.version}`, one);
  },
});

/**
 * Bundles with vite; fails where it warns.
 * @param {import('vite').UserConfig} config
 */
async function bundle({ build: options, ...config }) {
  await build({
    configFile: false,
    logLevel: 'warn',
    publicDir: false,
    plugins: [licences],
    ...config,
    build: {
      ...options,
      rolldownOptions: {
        ...options?.rolldownOptions,
        onLog: (level, { message }) => {
          throw new Error(`${level}: ${message}`);
        },
      },
    },
  });
}

/**
 * The page may import types of the server, which leave nothing in the bundle, and what runs in a browser.
 * @type {import('vite').Plugin}
 */
const browserOnly = {
  name: 'browser-only',
  enforce: 'pre',
  resolveId(source, importer) {
    if (isBuiltin(source)) throw new Error(`the page imports ${source}, in ${importer}`);
  },
};

await bundle({
  ssr: {
    noExternal: true,
    // What test runners bring, and what the client of Redis loads where it is installed.
    external: [...Object.keys(peerDependenciesMeta), '@opentelemetry/api', '@node-rs/xxhash'],
  },
  build: {
    ssr: true,
    target: 'node20.19',
    rolldownOptions: {
      input: Object.fromEntries(named('js').map((entry) => [entry, `src/${entry}.ts`])),
      output: { entryFileNames: '[name].js', chunkFileNames: 'chunks/[name]-[hash].js' },
    },
  },
});
/**
 * The page, and the script of a report, which brings its styles.
 * @type {import('vite').Rolldown.RolldownOptions[]}
 */
const pages = [
  { input: 'index.html' },
  { input: 'coverage-report.tsx', output: { format: 'iife', entryFileNames: 'report.js' } },
];
for (const rolldownOptions of existsSync(`src/${PAGE}`) ? pages : []) {
  await bundle({
    root: `src/${PAGE}`,
    base: './',
    plugins: [browserOnly, licences],
    build: {
      outDir: `../../../dist/${PAGE}`,
      emptyOutDir: false, // The build above has emptied it.
      target: 'es2022',
      modulePreload: false,
      rolldownOptions,
    },
  });
}
// Compressed once: browsers take it so, and the server sends the files as they are.
const assets = `dist/${PAGE}/assets`;
for (const file of existsSync(assets) ? readdirSync(assets) : [])
  writeFileSync(`${assets}/${file}`, gzipSync(readFileSync(`${assets}/${file}`), { level: 9 }));
chmodSync('dist/cli/main.js', 0o755);

execFileSync(process.execPath, ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json']);
// Only Jest needs CommonJS: Node itself requires ES modules.
for (const entry of named('cjs'))
  for (const suffix of ['cjs', 'd.cts'])
    copyFileSync(`src/${entry}.${suffix}`, `dist/${entry}.${suffix}`);

const line = '-'.repeat(80);
const sections = [...packages.values()].map((one) => {
  // The package of the Redis client leaves out the licence of its repository.
  const text = one.licenseText || readFileSync(`scripts/licences/${one.name}.txt`, 'utf8');
  return `${line}\n\n${one.name} ${one.version} (${one.license})\n\n${text.trim()}\n`;
});
const title = `${name} contains code of these packages:\n`;
writeFileSync('dist/THIRD-PARTY-LICENSES.txt', [title, ...sections].join('\n'));
writeFileSync('dist/sbom.cdx.json', JSON.stringify(billOfMaterials()));

/**
 * What npm knows of the bundled packages, in CycloneDX, for tools that look for known vulnerabilities.
 * The same code gives the same file: it has no time, no random id, and no address.
 */
function billOfMaterials() {
  const args = 'sbom --sbom-format=cyclonedx --package-lock-only --offline --include=dev';
  // On Windows, npm is a script, which needs a shell.
  const shell = process.platform === 'win32';
  /** @typedef {{ 'bom-ref': string, name: string, externalReferences?: unknown, properties?: unknown }} Component */
  /** @type {{ serialNumber: string, metadata: { timestamp: string, component: Component }, components: Component[], dependencies: { ref: string, dependsOn: string[] }[] }} */
  const { serialNumber, metadata, components, dependencies, ...sbom } = JSON.parse(
    execFileSync('npm', args.split(' '), { encoding: 'utf8', shell }),
  );
  const { timestamp, component: own, ...tools } = metadata;
  const used = components.filter((component) => packages.has(component['bom-ref']));
  const refs = new Set([own, ...used].map((component) => component['bom-ref']));
  /** @param {Component} component */
  const clean = ({ externalReferences, properties, ...known }) => ({ ...known, scope: 'required' });
  return {
    ...sbom,
    metadata: { ...tools, component: { ...clean(own), name } },
    components: used.map(clean),
    dependencies: dependencies
      .filter(({ ref }) => refs.has(ref))
      .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((to) => refs.has(to)) })),
  };
}
