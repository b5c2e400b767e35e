import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, posix } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { packageRoot } from '../src/package.ts';
import { links, readPage } from './helpers/page.ts';

const run = promisify(execFile);
const MINUTE = 60_000;

const manifest: {
  imports: Record<string, string>;
  dependencies?: unknown;
  peerDependencies?: unknown;
} = JSON.parse(readPage('package.json'));

/** npm sets variables for its scripts, which would change the npm that the tests start. */
const ENVIRONMENT = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^(npm_|petstore_mock_)/i.test(name)),
);

let folder = '';
let tarball = '';
let packed: readonly string[] = [];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'packaging-'));
  // `npm test` has built the package. Another build would delete it under the running tests.
  const pack = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder];
  const { stdout } = await run('npm', pack, { cwd: packageRoot, env: ENVIRONMENT });
  const [{ filename, files }] = JSON.parse(stdout);
  tarball = join(folder, filename);
  packed = files.map(({ path }: { path: string }) => path);
}, MINUTE);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('the tarball contains the program and what it reads', () => {
  expect(packed).toEqual(
    expect.arrayContaining([
      'dist/cli/main.js',
      'dist/index.js',
      'dist/types/index.d.ts',
      'dist/THIRD-PARTY-LICENSES.txt',
      'fixtures/default.json',
      'scenarios/scenario.schema.json',
      'LICENSE',
      'package.json',
      ...Object.values(manifest.imports).map((path) => path.slice('./'.length)),
    ]),
  );
});

test('what few starts need has files of its own, so that no other start loads it', () => {
  const late = ['app', 'check', 'open-file', 'redis-fleet', 'rule-shape', 'service-openapi'];
  expect(packed).toEqual(expect.arrayContaining(late.map((it) => `dist/cli/chunks/${it}.js`)));
});

test('the tarball contains nothing that only development needs', () => {
  const shipped =
    /^(dist|docs|examples|fixtures|scenarios)\/|^bench\/RESULTS\.md$|^(README|CHANGELOG|CONTRIBUTING)\.md$|^(LICENSE|package\.json)$/;
  expect(packed.filter((path) => !shipped.test(path))).toEqual([]);
  expect(packed.filter((path) => /(^|\/)(node_modules|\.env)/.test(path))).toEqual([]);
});

test('npx has no dependency to install, and no peer dependency whose metadata it would fetch', () => {
  expect(manifest.dependencies).toBeUndefined();
  expect(manifest.peerDependencies).toBeUndefined();
});

/** Whether the tarball contains a file or folder. */
function isPacked(path: string): boolean {
  const folder = path.endsWith('/') ? path : `${path}/`;
  return packed.some((file) => file === path || file.startsWith(folder));
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

test(
  'npx starts the tarball in an empty folder without a registry, and SIGTERM ends it with 0',
  async () => {
    const empty = join(folder, 'empty');
    mkdirSync(empty);
    // An empty cache, so that nothing installed before can replace what is missing.
    const cache = join(folder, 'cache');
    // Relative, since npx takes an absolute path for a program.
    const npx = ['npx', '-y', `../${basename(tarball)}`, '--port', '0'];
    await startAndStop(npx, empty, cache);

    // The signal ends npx too, so only the command itself shows the exit code of the server.
    const [install = ''] = readdirSync(join(cache, '_npx'));
    const command = join(cache, '_npx', install, 'node_modules/.bin/petstore-mock');
    expect(await startAndStop([command, '--port', '0'], empty, cache)).toEqual([0, null]);
  },
  3 * MINUTE,
);

/** Starts a server, asks it for an animal, and ends it and what started it with SIGTERM. */
async function startAndStop(
  [program = '', ...args]: readonly string[],
  cwd: string,
  cache: string,
): Promise<unknown[]> {
  const child = spawn(program, args, {
    cwd,
    env: { ...ENVIRONMENT, npm_config_cache: cache, npm_config_offline: 'true' },
    detached: true, // a process group of its own, which the signal reaches as a whole
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const exited = once(child, 'exit');
  let complaint = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaint += text;
  });
  try {
    let url: string | undefined;
    for await (const line of createInterface({ input: child.stdout })) {
      url = /^petstore-mock ready (http:\S+)$/.exec(line)?.[1];
      if (url !== undefined) break;
    }
    expect(url, complaint).toBeDefined();
    const headers = { Authorization: 'Bearer demo-key' };
    const reply = await fetch(`${url}/pets?limit=1`, { headers });
    expect(reply.status).toBe(200);
    expect(await reply.json()).toHaveLength(1);
  } finally {
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGTERM');
  }
  return exited;
}
