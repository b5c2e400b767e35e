// Builds dist/: the bundled program, its types, and which packages are in it: their licences, and a
// software bill of materials.
//
// Everything is bundled, so that `npx` installs one package. `serve` needs one file of the command;
// what only other commands and requests need is in files of their own, loaded when first needed.

import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { isBuiltin } from 'node:module';
import { basename, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { faker } from '@faker-js/faker/locale/en';
import { rolldown } from 'rolldown';
import { buildDashboard } from './build-dashboard.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const dist = join(root, 'dist');
const manifest = readJson('package.json');
const { exports, imports, peerDependenciesMeta } = manifest;
const peers = Object.keys(peerDependenciesMeta);

/** What has a file of its own, which package.json names in `imports`. */
const CERTIFICATE = 'src/server/http/generate-certificate.ts'; // makes the certificate of `--tls`
const EXPRESS = 'node_modules/express/index.js';
const REDIS = 'src/features/fleet/client.ts'; // for `--shared`
const YAML = 'node_modules/yaml/browser/index.js'; // the only build of yaml in ES modules

/** What users import. */
const LIBRARY = {
  index: 'src/index.ts',
  'features/testing/vitest': 'src/features/testing/vitest.ts',
  'features/testing/playwright': 'src/features/testing/playwright.ts',
  'features/testing/jest': 'src/features/testing/jest.ts',
};

/** The modules that `serve` loads at its start. */
const atStart = new Set();

const LICENCE = /^licen[cs]e|^notice/i;

/** Shorter modules for what yargs loads at every start, a third of its time, and needs only for other texts. */
const SHORT = {
  // The help has no wide characters.
  'string-width':
    "import { stripVTControlCharacters as strip } from 'node:util'; export default (text) => strip(text).length;",
  // Node loads its own with all that compares objects.
  assert: `const check = (holds, message) => { if (!holds) throw new Error(message); };
    export const strictEqual = (a, b, message) => check(Object.is(a, b), message);
    export const notStrictEqual = (a, b, message) => check(!Object.is(a, b), message);`,
};

const OF_YARGS = /node_modules\/(?:yargs|cliui|wrap-ansi)\//;

/**
 * Modules that are replaced by others when bundled.
 * @type {import('rolldown').Plugin}
 */
const replaced = {
  name: 'replaced',
  resolveId(source, importer = '', { isEntry }) {
    if (isEntry) return null;
    if (Object.hasOwn(SHORT, source) && OF_YARGS.test(importer)) return `\0short:${source}`;
    if (/^(?:express|yaml)$/.test(source)) return { id: `#${source}`, external: true };
    if (source === './generate-certificate.ts') return { id: '#certificate', external: true };
    if (source === './client.ts') return { id: '#redis', external: true };
    if (source === '@faker-js/faker/locale/en') return { id: '#names', external: true };
    // The coloured debug output and the body parsers of express, and what the client of Redis can do
    // with packages that nobody has installed: all unused.
    const unused = /^(?:supports-color|body-parser|@opentelemetry\/api|@node-rs\/xxhash)$/;
    return unused.test(source) ? `\0empty:${source}` : null;
  },
  transform(code, id) {
    // Fails where the working directory is gone, and is used for nothing.
    const isShim = id.endsWith('yargs/lib/platform-shims/esm.mjs');
    return isShim ? code.replace('mainFilename || process.cwd()', 'mainFilename') : null;
  },
  load(id) {
    if (id.startsWith('\0empty:')) return '';
    const [, short] = /^\0short:(.*)$/.exec(id) ?? [];
    return short === undefined ? null : Reflect.get(SHORT, short);
  },
};

/** @type {import('rolldown').Plugin} */
const startFinder = {
  name: 'start-finder',
  buildEnd() {
    const add = (/** @type {string} */ id) => {
      if (atStart.has(id)) return;
      atStart.add(id);
      this.getModuleInfo(id)?.importedIds.forEach(add);
    };
    add(join(root, 'src/cli/dispatch.ts'));
  },
};

/**
 * @param {Record<string, string>} input
 * @param {import('rolldown').OutputOptions} output
 * @param {import('rolldown').Plugin[]} plugins
 */
async function bundle(input, output, ...plugins) {
  const build = await rolldown({
    cwd: root,
    input,
    platform: 'node',
    external: (id) => id.startsWith('#') || peers.includes(id),
    plugins: [replaced, ...plugins],
    preserveEntrySignatures: 'allow-extension',
    transform: { target: 'node20.19' },
    onLog: (level, log) => {
      throw new Error(`${level}: ${log.message}`);
    },
  });
  const written = await build.write({
    dir: dist,
    minify: true, // less to download, and less to parse at every start
    comments: false, // dist/THIRD-PARTY-LICENSES.txt contains the legal ones
    ...output,
  });
  return written.output.filter((file) => file.type === 'chunk');
}

rmSync(dist, { recursive: true, force: true });
const chunks = [
  await bundle(
    { main: 'src/cli/main.ts' },
    {
      dir: join(dist, 'cli'),
      chunkFileNames: 'chunks/[name].js',
      codeSplitting: { groups: [{ name: 'start', test: (id) => atStart.has(id) }] },
    },
    startFinder,
  ),
  await bundle({ certificate: CERTIFICATE, redis: REDIS, yaml: YAML }, {}),
  await bundle({ express: EXPRESS }, { format: 'cjs', entryFileNames: '[name].cjs' }),
  await bundle(
    LIBRARY,
    // Readable in the stack traces of a test that uses the library.
    { minify: false, chunkFileNames: 'chunks/[name]-[hash].js' },
  ),
].flat();
// What src/core/store/generate-store.ts reads of the package.
const { animal, person } = faker.definitions;
const definitions = {
  animal: { pet_name: animal.pet_name },
  person: { first_name: { all: [...new Set(Object.values(person.first_name).flat())] } },
};
writeFileSync(join(dist, 'names.js'), `export const faker = ${JSON.stringify({ definitions })};\n`);

const dashboard = await buildDashboard();
checkImports();
chmodSync(join(dist, 'cli/main.js'), 0o755);
tsc('-p', 'tsconfig.build.json');
for (const entry of Object.keys(LIBRARY)) writeCommonJs(entry);
copyFileSync(join(root, 'src/features/testing/jest.cjs'), join(dist, 'features/testing/jest.cjs'));
removeUnusedTypes();
const bundled = bundledPackages();
writeFileSync(join(dist, 'THIRD-PARTY-LICENSES.txt'), licences(bundled));
writeFileSync(join(dist, 'sbom.cdx.json'), JSON.stringify(billOfMaterials(bundled)));

/** Keeps the types of the exports, and of what they name: each file costs time when npx unpacks it. */
function removeUnusedTypes() {
  const files = Object.values(exports).flatMap(({ types = {} }) => Object.values(types));
  const named = tsc('--listFilesOnly', '--ignoreConfig', '--module', 'nodenext', ...files);
  const needed = new Set(named.split('\n').map((file) => resolve(root, file)));
  for (const file of readdirSync(join(dist, 'types'), { recursive: true, withFileTypes: true })) {
    const path = join(file.parentPath, file.name);
    if (!file.isFile()) continue;
    if (needed.has(path)) checkTypeImports(path);
    else rmSync(path);
  }
}

/**
 * Fails where a type names a package that a user would have to install.
 * @param {string} path
 */
function checkTypeImports(path) {
  for (const [, name = ''] of readFileSync(path, 'utf8').matchAll(/ from '([^.'][^']*)'/g)) {
    if (!isBuiltin(name) && !peers.includes(name))
      throw new Error(`${relative(dist, path)} names ${name}, which is not part of the package`);
  }
}

/**
 * Writes an entry for `require`: the same module that `import` gets. Jest has a `require` of its own,
 * which loads no ES modules; this one is that of Node's own context.
 * @param {string} entry
 */
function writeCommonJs(entry) {
  const module = `./${basename(entry)}.js`;
  const { exports: names = [] } = chunks.find(({ name }) => name === entry) ?? {};
  const code = [
    "'use strict';",
    "const { runInThisContext } = require('node:vm');",
    "const { createRequire } = runInThisContext('process').getBuiltinModule('node:module');",
    `module.exports = createRequire(__filename)('${module}');`,
  ];
  writeFileSync(join(dist, `${entry}.cjs`), `${code.join('\n')}\n`);
  // Compilers before TypeScript 5.8 refuse to export an ES module from CommonJS, but not its types.
  const library = `import('${module}', { with: { 'resolution-mode': 'import' } })`;
  const types = names.flatMap((name) => [
    `export declare const ${name}: typeof ${library}.${name};`,
    // The value hides the type of a class.
    ...(/^[A-Z]/.test(name) ? [`export type ${name} = ${library}.${name};`] : []),
  ]);
  types.unshift(`export type * from '${module}' with { 'resolution-mode': 'import' };`);
  writeFileSync(join(dist, 'types', `${entry}.d.cts`), `${types.join('\n')}\n`);
}

/** @param {string[]} args */
function tsc(...args) {
  const command = [join(root, 'node_modules/typescript/bin/tsc'), ...args];
  return execFileSync(process.execPath, command, { cwd: root, encoding: 'utf8' });
}

/** Fails where the output imports what a user would have to install. */
function checkImports() {
  const known = [...chunks.map(({ fileName }) => fileName), ...Object.keys(imports), ...peers];
  const missing = chunks.flatMap(({ fileName, imports: eager, dynamicImports: lazy }) =>
    [...eager, ...lazy]
      .filter((path) => !isBuiltin(path) && !known.includes(path))
      .map((path) => `${fileName} imports ${path}, which is neither bundled nor part of Node`),
  );
  if (missing.length > 0) throw new Error(missing.join('\n'));
}

/** The folders of the packages that have code in the output. */
function bundledPackages() {
  const inOutput = chunks
    .flatMap(({ modules }) => Object.entries(modules))
    .flatMap(([file, { code }]) => (code ? [file] : []));
  const onPage = Object.values(dashboard.outputs).flatMap(({ inputs }) => Object.keys(inputs));
  const files = [...inOutput, ...onPage];
  // The folder can be a link.
  const modules = realpathSync(join(root, 'node_modules'));
  const folders = files.flatMap((file) => {
    const path = resolve(root, file);
    const inside = path.startsWith(modules) ? `node_modules${path.slice(modules.length)}` : '';
    return inside.match(/^.*node_modules\/(?:@[^/]+\/)?[^/]+/) ?? [];
  });
  folders.push('node_modules/@faker-js/faker'); // dist/names.js
  return [...new Set(folders)].sort();
}

/** @param {string[]} folders */
function licences(folders) {
  const sections = folders.map((folder) => {
    const { name, version, license } = readJson(join(folder, 'package.json'));
    const files = readdirSync(join(root, folder)).filter((entry) => LICENCE.test(entry));
    // The package leaves out the licence of its repository.
    if (name === '@redis/client') files.push(relative(folder, 'scripts/redis-client-licence.txt'));
    if (!files[0]) throw new Error(`${name}@${version} is bundled and has no licence file`);
    const texts = files.map((file) => readFileSync(join(root, folder, file), 'utf8').trim());
    const text = texts.join('\n\n');
    return `${name} ${version} (${license})\n\n${text}\n`;
  });
  const head = 'petstore-mock contains code of these packages:\n';
  return [head, ...new Set(sections)].join(`\n${'-'.repeat(80)}\n\n`);
}

/**
 * The bundled packages in CycloneDX, for tools that look for known vulnerabilities. The same code
 * gives the same file: it has no time, no random id, and no address that a package came from.
 * @param {string[]} folders
 */
function billOfMaterials(folders) {
  const args = [
    'sbom',
    '--sbom-format=cyclonedx',
    '--package-lock-only',
    '--offline',
    '--include=dev',
  ];
  const shell = process.platform === 'win32'; // where npm is a script
  const written = execFileSync('npm', [...args, '--loglevel=error'], {
    cwd: root,
    encoding: 'utf8',
    shell,
  });
  /** @typedef {{ 'bom-ref': string, externalReferences?: unknown, properties?: unknown }} Component */
  /** @type {{ serialNumber: string, metadata: { timestamp: string, component: Component }, components: Component[], dependencies: { ref: string, dependsOn: string[] }[] }} */
  const { serialNumber, metadata, components, dependencies, ...sbom } = JSON.parse(written);
  const { timestamp, component: own, ...others } = metadata;
  const refs = folders.map((folder) => {
    const { name, version } = readJson(join(folder, 'package.json'));
    return `${name}@${version}`;
  });
  const used = components.filter((component) => refs.includes(component['bom-ref']));
  if (used.length < new Set(refs).size)
    throw new Error('npm sbom does not list all that is bundled');
  /** @param {Component} component */
  const clean = ({ externalReferences, properties, ...known }) => ({ ...known, scope: 'required' });
  return {
    ...sbom,
    metadata: { ...others, component: { ...clean(own), name: manifest.name } },
    components: used.map(clean),
    dependencies: dependencies
      .filter(({ ref }) => ref === own['bom-ref'] || refs.includes(ref))
      .map(({ ref, dependsOn }) => ({
        ref,
        dependsOn: dependsOn.filter((to) => refs.includes(to)),
      })),
  };
}

/** @param {string} file */
function readJson(file) {
  return JSON.parse(readFileSync(join(root, file), 'utf8'));
}
