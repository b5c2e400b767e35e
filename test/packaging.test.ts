import { mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join, posix } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { packageRoot } from '../src/server/files.ts';
import { readyUrl } from './helpers/command.ts';
import { temporaryFolder } from './helpers/folder.ts';
import { links, readPage } from './helpers/page.ts';
import { runProgram, spawnProgram } from './helpers/program.ts';

const MINUTE = 60_000;

const manifest: {
  version: string;
  bin: { 'petstore-mock': string };
  dependencies?: unknown;
  peerDependencies?: unknown;
} = JSON.parse(readPage('package.json'));

const folder = temporaryFolder();
let packed: readonly string[] = [];
/** The folder of the modules of a project in which the tarball is installed. */
const modules = join(folder, 'node_modules');

beforeAll(async () => {
  // `npm test` has built the package. Another build would delete it under the running tests.
  const pack = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder];
  const { printed, exited } = spawnProgram('npm', pack, { cwd: packageRoot });
  await exited;
  const [{ filename, files }] = JSON.parse(printed.stdout);
  packed = files.map(({ path }: { path: string }) => path);
  mkdirSync(modules);
  await spawnProgram('tar', ['-xf', join(folder, filename), '-C', modules]).exited;
  renameSync(join(modules, 'package'), join(modules, 'petstore-mock'));
}, MINUTE);

test('the tarball contains the program and what it reads', () => {
  expect(packed).toEqual(
    expect.arrayContaining([
      'dist/cli/main.js',
      'dist/index.js',
      'dist/index.d.ts',
      'dist/THIRD-PARTY-LICENSES.txt',
      'dist/sbom.cdx.json',
      'fixtures/default.json',
      'scenarios/scenario.schema.json',
      'LICENSE',
      'package.json',
    ]),
  );
});

test('the tarball contains nothing that only development needs', () => {
  const shipped =
    /^(dist|docs|examples|fixtures|scenarios)\/|^bench\/RESULTS\.md$|^(README|CHANGELOG|CONTRIBUTING|SECURITY|SKILL)\.md$|^(LICENSE|package\.json)$/;
  expect(packed.filter((path) => !shipped.test(path))).toEqual([]);
  expect(packed.filter((path) => /(^|\/)(node_modules|\.env)/.test(path))).toEqual([]);
});

test('the bill of materials lists what is bundled, as the licences do, and no address', () => {
  const text = readPage('dist/sbom.cdx.json');
  const { metadata, components, dependencies } = JSON.parse(text);
  interface Component {
    readonly name: string;
    readonly version: string;
  }
  const listed = components.map(({ name, version }: Component) => `${name} ${version}`);
  expect(readPage('README.md')).toContain(`the ${components.length} libraries`);
  const licences = readPage('dist/THIRD-PARTY-LICENSES.txt');
  const sections = licences.matchAll(/^-{80}\n\n(\S+ \S+) \(.+\)$/gm);
  expect(listed.sort()).toEqual([...sections].map(([, name]) => name).sort());
  expect(metadata.component).toMatchObject({ name: 'petstore-mock', version: manifest.version });
  expect(dependencies[0].dependsOn).toHaveLength(listed.length);
  expect(text.match(/\w+:\/\/[^"]*/g)).toEqual(['http://cyclonedx.org/schema/bom-1.5.schema.json']);
});

test('`require` in a CommonJS project gets the module that `import` gets', async () => {
  const code = `
    const library = require('petstore-mock');
    library.startPetstoreMock().then(async (mock) => {
      const error = await mock.orders.get(99).catch((thrown) => thrown);
      await mock.stop();
      const { ControlError } = await import('petstore-mock');
      console.log(error instanceof library.ControlError, ControlError === library.ControlError);
    });`;
  writeFileSync(join(folder, 'test.cjs'), code);
  const { output } = await runProgram(process.execPath, ['test.cjs'], { cwd: folder });
  expect(output).toBe('true true\n');
});

test('npx has no dependency to install, and no peer dependency whose metadata it would fetch', () => {
  expect(manifest.dependencies).toBeUndefined();
  expect(manifest.peerDependencies).toBeUndefined();
});

test('each example asks for this version', () => {
  const found = readdirSync(join(packageRoot, 'examples'), { recursive: true, encoding: 'utf8' })
    .filter((file) => basename(file) === 'package.json')
    .map((file) => JSON.parse(readPage(`examples/${file}`)).devDependencies['petstore-mock']);
  expect(found.length).toBeGreaterThan(3);
  expect(new Set(found)).toEqual(new Set([`^${manifest.version}`]));
});

/** Chunks that a start without their flag or request does not load, by the module that gives the name. */
const SELDOM_NEEDED = [
  'control-api',
  'express',
  'fleet',
  'generate-certificate',
  'resolve-scenarios',
];

/** Whether the tarball contains a file or folder. */
function isPacked(path: string): boolean {
  return packed.some((file) => file === path || file.startsWith(`${path.replace(/\/$/, '')}/`));
}

test('every relative link of a page in the tarball leads to a file in it', () => {
  const pages = packed.filter((path) => path.endsWith('.md'));
  expect(pages).toContain('README.md');
  const broken = pages.flatMap((page) =>
    links(readPage(page))
      .map(({ file }) => posix.join(posix.dirname(page), file))
      .filter((path) => path !== posix.dirname(page) && !isPacked(path))
      .map((path) => `${page} links to ${path}`),
  );
  expect(broken).toEqual([]);
});

test('the command of the tarball starts without what is seldom needed, and SIGTERM ends it with 0', async () => {
  const installed = join(modules, 'petstore-mock');
  for (const name of SELDOM_NEEDED) {
    const chunks = readdirSync(join(installed, 'dist/chunks'));
    const files = chunks.filter((chunk) => chunk.startsWith(`${name}-`));
    expect(files, name).not.toEqual([]);
    for (const file of files) rmSync(join(installed, 'dist/chunks', file));
  }
  const spawned = spawnProgram(join(installed, manifest.bin['petstore-mock']), ['--port', '0']);
  const headers = { Authorization: 'Bearer demo-key' };
  const reply = await fetch(`${await readyUrl(spawned)}/pets?limit=1`, { headers });
  expect(await reply.json()).toHaveLength(1);
  spawned.child.kill('SIGTERM');
  expect(await spawned.exited).toEqual({ code: 0, signal: null });
});
