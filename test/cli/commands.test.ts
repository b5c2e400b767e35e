import { spawnSync } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { ASSUMPTION_IDS } from '../../src/core/contract/assumption-table.ts';
import { shippedScenarios } from '../../src/core/scenario/scenario-names.ts';
import { startServer } from '../../src/index.ts';
import { packageVersion } from '../../src/server/files.ts';
import { NODE_PLATFORM } from '../../src/server/node-platform.ts';
import { MAIN, runCommand } from '../helpers/command.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { listen } from '../helpers/host.ts';
import { runInProcess, serveInProcess } from '../helpers/invocation.ts';
import { runProgram } from '../helpers/program.ts';
import { examplesProject } from '../helpers/projects.ts';

const folder = temporaryFolder();
/** As installed. */
const installedMain = join(examplesProject(), 'node_modules/petstore-mock/dist/cli/main.js');

test('--version prints the version of the package', async () => {
  const expected = { code: 0, stdout: `${packageVersion()}\n`, stderr: '' };
  for (const words of [['--version'], ['-v'], ['exec', '--version']])
    expect(await runInProcess(words)).toMatchObject(expected);
});

test('a working directory that is gone does not matter to what needs none', async () => {
  const script = 'mkdir gone; cd gone; rmdir ../gone; exec "$0" "$1" completion bash';
  const program = ['-c', script, process.execPath, installedMain];
  const { code, output } = await runProgram('sh', program, { cwd: folder });
  const text = expect.stringContaining('complete -o bashdefault');
  expect({ code, output }).toEqual({ code: 0, output: text });
});

describe('--help', () => {
  test('shows examples that work', async () => {
    const { stdout } = await runInProcess(['--help']);
    const [, section = ''] = /^Examples:\n((?: {2}.*\n)+)/m.exec(stdout) ?? [];
    const commands = section.split('\n').filter((line) => line.startsWith('  petstore-mock'));
    expect(commands).toHaveLength(4);
    for (const command of commands) {
      // An endurance test draws a million, which takes seconds.
      const quick = command.trim().replace('--port 8080', '').replace('1000000', '1000');
      const [, ...args] = quick.split(/ +/);
      const server = await serveInProcess([...args, '--port', '0']);
      expect((await server.stop()).code).toBe(0);
    }
  });
});

describe('health', () => {
  test('exits with 0 if the server is up, with --port, --url or the variables of the server', async () => {
    const server = await startServer({ port: 0 });
    const { port, origin } = new URL(server.url);
    const up = { code: 0, stdout: `${origin} is up\n`, stderr: '' };
    expect(await runInProcess(['health', '--port', port])).toMatchObject(up);
    expect(await runInProcess(['health', '--url', origin])).toMatchObject(up);
    const address = { PETSTORE_MOCK_PORT: port, PETSTORE_MOCK_HOST: '0.0.0.0' };
    const env = { ...address, PETSTORE_MOCK_SCENARIO: 'slow', PETSTORE_MOCK_CONTROL_TOKEN: 'x' };
    expect(await runInProcess(['health'], env)).toMatchObject(up);
    await server.close();
  });

  test.each([
    [
      'that answers something else',
      404,
      '60000',
      'got 404 from something other than petstore-mock',
    ],
    ['that is no petstore-mock', 200, '60000', 'something other than petstore-mock'],
    ['with a status without content', 205, '60000', 'something other than petstore-mock'],
    ['that has nothing new', 304, '60000', 'got 304 from something other'],
    ['with a status of its own', 999, '60000', 'no petstore-mock answers at'],
    ['that does not answer in time', undefined, '50', 'within 50 ms'],
  ])('exits with 1 for a server %s', async (_what, status, timeout, message) => {
    const other = createServer((_request, response) => {
      if (status !== undefined) response.writeHead(status).end(status === 205 ? undefined : '{}');
    });
    const port = String(await listen(other));
    const finished = await runInProcess(['health', '--port', port, '--timeout', timeout]);
    expect(finished).toMatchObject({ code: 1, stdout: '' });
    expect(finished.stderr).toContain(message);
    other.closeAllConnections();
    other.close();
  });
});

describe('generate', () => {
  const SIZE = ['--animals', '30', '--orders', '9', '--seed', '7'];

  test('overwrites a file only with --force', async () => {
    const file = join(folder, 'store.json');
    const args = ['generate', ...SIZE, '--output', file];
    expect(await runInProcess(args)).toMatchObject({ code: 0, stdout: '', stderr: '' });
    writeFileSync(file, 'mine');
    const stderr = `petstore-mock: --output: ${file} exists; --force overwrites it\n`;
    expect(await runInProcess(args)).toMatchObject({ code: 2, stdout: '', stderr });
    expect(readFileSync(file, 'utf8')).toBe('mine');
    expect((await runInProcess([...args, '--force'])).code).toBe(0);
    expect(readFileSync(file, 'utf8')).toBe((await runInProcess(['generate', ...SIZE])).stdout);
  });

  test('stops silently when its output is closed', async () => {
    const finished = await runCommand(['generate', '--animals', '10000'], {}, 'leave early');
    expect(finished).toMatchObject({ code: 0, stderr: '' });
  });
});

const DEPLOYMENT = ['http://127.0.0.1:1/v1', '--key', 'demo-key'];

describe('a file to write', () => {
  test.each([
    [['check', ...DEPLOYMENT], '--save'],
    [['record', ...DEPLOYMENT], '--output'],
    [['generate', '--animals', '1'], '--output'],
    [['serve', '--port', '0'], '--coverage'],
    [['serve', '--port', '0'], '--tls-write'],
  ])('is refused before %j does anything, if it cannot be written: %s', async (words, flag) => {
    const below = join(folder, 'a-file');
    writeFileSync(below, '');
    const taken = join(folder, 'a-folder.json');
    mkdirSync(taken, { recursive: true });
    for (const [file, why] of [
      [taken, `found a folder at ${taken}`],
      [join(below, 'x', 'y.json'), 'not a directory'],
    ] as const) {
      const { code, stdout, stderr } = await runInProcess([...words, flag, file]);
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
      expect(stderr).toMatch(/^[^\n]*\n$/);
      expect(stderr).toContain(`petstore-mock: ${flag}: expected a file that can be written`);
      expect(stderr).toContain(why);
    }
  });

  test('gets the folders that it lacks', async () => {
    const file = join(folder, 'new', 'folder', 'store.json');
    expect((await runInProcess(['generate', '--animals', '1', '--output', file])).code).toBe(0);
    expect(readFileSync(file, 'utf8')).toContain('"animals"');
  });

  test('leaves no folder behind where nothing is written', async () => {
    const [top, file] = [join(folder, 'dry'), join(folder, 'dry', 'deep', 'x.json')];
    const dry = ['check', ...DEPLOYMENT, '--dry-run', '--save', file];
    expect((await runInProcess(dry)).code).toBe(0);
    expect(existsSync(top)).toBe(false);
  });
});

describe('assumptions', () => {
  test('lists all of them, marks the chosen options, and prints JSON with --json', async () => {
    const flags = ['--assume', 'cancel-again=404', '--rate-limit', '3/s'];
    const env = { PETSTORE_MOCK_ASSUME: 'cors=absent' };
    const { stdout } = await runInProcess(['assumptions', ...flags], env);
    for (const id of ASSUMPTION_IDS) expect(stdout).toContain(`  ${id} `);
    expect(stdout).toContain('409*, >404, 204');
    expect(stdout).toContain('allowed*, >absent');
    const all = await runInProcess(['assumptions', '--json', ...flags], env);
    const listed: { id: string }[] = JSON.parse(all.stdout);
    expect(listed.map(({ id }) => id)).toEqual(ASSUMPTION_IDS);
    const one = await runInProcess(['assumptions', 'rate-limit', '--json', ...flags]);
    expect(listed).toContainEqual(JSON.parse(one.stdout));
    expect(JSON.parse(one.stdout)).toMatchObject({ default: 'none', chosen: '3/s' });
  });
});

test('openapi prints the document of the service, for a server of your own', async () => {
  const url = 'http://mock.test/v1';
  const { stdout } = await runInProcess(['openapi', '--documented', '--server-url', url]);
  expect(JSON.parse(stdout)).toMatchObject({ openapi: '3.1.0', servers: [{ url }, {}] });
});

test('scenarios lists what ships, also as JSON, and prints one that is valid as a file', async () => {
  const shipped = shippedScenarios(NODE_PLATFORM);
  const { stdout } = await runInProcess(['scenarios']);
  for (const { name } of shipped) expect(stdout).toMatch(new RegExp(`^ {2}${name} +\\S`, 'm'));
  const listed = await runInProcess(['scenarios', '--json']);
  expect(JSON.parse(listed.stdout)).toEqual(shipped);
  const file = join(folder, 'mine.yaml');
  writeFileSync(file, (await runInProcess(['scenarios', 'flaky'])).stdout);
  expect(await runInProcess(['validate', file])).toMatchObject({ code: 0 });
  const { code, stderr } = await runInProcess(['scenarios', 'flakey']);
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('mean flaky?') });
});

describe('validate', () => {
  /** Writes a file, and returns its path. */
  const fileWith = (name: string, text: string) => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };

  test('checks scenarios over the fixture of --fixture', async () => {
    const animals = '[{ "id": 777, "name": "Rex", "categoryId": 1 }]';
    const store = fileWith('one.json', `{ "animals": ${animals}, "inventory": [], "orders": [] }`);
    const order = '{ id: 1, petId: 777, status: shipped }';
    const scenario = fileWith('ships.yaml', `state: { orders: { set: [${order}] } }\n`);
    const without = await runInProcess(['validate', scenario]);
    expect(without.code).toBe(2);
    expect(without.stdout).toContain('expected the id of an animal, found 777');
    const valid = { code: 0, stdout: `${scenario}: valid\n` };
    expect(await runInProcess(['validate', '--fixture', store, scenario])).toMatchObject(valid);
    const env = { PETSTORE_MOCK_FIXTURE: store };
    expect(await runInProcess(['validate', scenario], env)).toMatchObject(valid);
  });

  test('reports each problem with its place and exits with 2', async () => {
    const scenario = fileWith('fine.yaml', 'assume: { cancel-again: "404" }\n');
    const misspelt = fileWith('misspelt.yaml', 'description: Not fine.\nrule: []\n');
    const broken = fileWith('broken.json', '{\n  "animals": [,]\n}\n');
    const missing = join(folder, 'missing.yaml');
    const finished = await runInProcess(['validate', misspelt, scenario, broken, missing]);
    expect(finished).toMatchObject({ code: 2, stderr: '' });
    const [first, second, third, fourth] = finished.stdout.split('\n');
    expect(first).toMatch(`${misspelt}:2:1: `);
    expect(first).toMatch('did you mean rules?');
    expect(second).toBe(`${scenario}: valid`);
    expect(third).toMatch(`${broken}:2:15: `);
    expect(fourth).toMatch(`${missing}: expected a scenario file`);
    const { stdout } = await runInProcess(['validate', '--json', scenario, misspelt]);
    expect(JSON.parse(stdout)).toEqual([
      { file: scenario, problems: [], warnings: [] },
      {
        file: misspelt,
        warnings: [],
        problems: [
          {
            file: misspelt,
            line: 2,
            column: 1,
            path: expect.stringMatching(/^\$\./),
            expected: expect.any(String),
            found: expect.stringContaining('did you mean rules?'),
            message: first?.replace(`${misspelt}:2:1: `, ''),
          },
        ],
      },
    ]);
  });
});

describe('completion', () => {
  beforeEach(() => void vi.stubEnv('SHELL', '/bin/bash').stubEnv('ZSH_NAME', ''));
  afterEach(() => void vi.unstubAllEnvs());

  test.each([
    ['bash', 'complete -o bashdefault'],
    ['zsh', '#compdef petstore-mock'],
    ['fish', 'complete -f -c petstore-mock'],
  ])('prints the script for a given shell, such as %s', async (shell, line) => {
    const { code, stdout } = await runInProcess(['completion', shell]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining(line) });
  });

  test('refuses another shell, and runs for what the script asks', async () => {
    const { code, stderr } = await runInProcess(['completion', 'fsh']);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('mean zsh?') });
    const { stdout } = await runInProcess(['--get-yargs-completions', 'petstore-mock', 'ct']);
    expect(stdout).toContain('ctl\n');
  });
});

test.runIf(existsSync('/dev/full')).each([[['openapi']], [['generate', '--animals', '10000']]])(
  'on a full disk, %j prints a one-line error',
  (args) => {
    const full = openSync('/dev/full', 'w');
    const { status, stderr } = spawnSync(process.execPath, [MAIN, ...args], {
      stdio: ['ignore', full, 'pipe'],
      encoding: 'utf8',
    });
    closeSync(full);
    expect(stderr).toBe('petstore-mock: standard output cannot be written (ENOSPC)\n');
    expect(status).toBe(1);
  },
);
