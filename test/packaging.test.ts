import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { packageRoot } from '../src/package.ts';

const run = promisify(execFile);
const MINUTE = 60_000;

/** What npm says to a child of its own scripts would reach the npm that the tests start. */
const ENVIRONMENT = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^(npm_|petstore_mock_)/i.test(name)),
);

let folder = '';
let tarball = '';
let packed: readonly string[] = [];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'packaging-'));
  // The tests run on what `npm test` has built: a build while they run would take it from them.
  const pack = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder];
  const { stdout } = await run('npm', pack, { cwd: packageRoot, env: ENVIRONMENT });
  const [{ filename, files }] = JSON.parse(stdout);
  tarball = join(folder, filename);
  packed = files.map(({ path }: { path: string }) => path);
}, MINUTE);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

test.each([
  'dist/cli/main.js',
  'dist/index.js',
  'dist/yaml.js',
  'dist/types/index.d.ts',
  'fixtures/default.json',
  'scenarios/scenario.schema.json',
  'scenarios/slow.yaml',
  'README.md',
  'LICENSE',
  'CHANGELOG.md',
  'package.json',
])('the tarball holds %s', (path) => {
  expect(packed).toContain(path);
});

test('the tarball holds nothing that only development needs', () => {
  const shipped = /^(dist|fixtures|scenarios)\/|^(README\.md|LICENSE|CHANGELOG\.md|package\.json)$/;
  expect(packed.filter((path) => !shipped.test(path))).toEqual([]);
  expect(packed.filter((path) => /\.test\.|\btest\//.test(path))).toEqual([]);
});

test(
  'npx starts the tarball in an empty folder, and SIGTERM ends what it installed with 0',
  async () => {
    const empty = join(folder, 'empty');
    mkdirSync(empty);
    // A cache of its own, so that nothing installed before can stand in for what is missing.
    const cache = join(folder, 'cache');
    // Relative, as a user writes it: npx takes an absolute path for a program.
    const npx = ['npx', '-y', `../${basename(tarball)}`, '--port', '0'];
    await startAndStop(npx, empty, cache);

    // npx itself dies of the signal, whatever the server does: the exit code is the command's own.
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
    // A request that the network has lost is made again long before the test would give up.
    env: { ...ENVIRONMENT, npm_config_cache: cache, npm_config_fetch_timeout: '15000' },
    detached: true, // in a process group of its own, which the signal reaches as a whole
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
