import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runCommand as runChild } from '../../src/cli/child.ts';
import { OPERATION_IDS, OPERATIONS } from '../../src/contract/operations.ts';
import { packageRoot } from '../../src/package.ts';
import { type Environment, type Finished, runCommand, spawnCommand } from '../helpers/command.ts';

let folder = '';

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'exec-'));
});

afterAll(() => rmSync(folder, { recursive: true }));

const CLIENTS = join(packageRoot, 'test/fixtures-clients');

/** Runs a script of Node under `exec`. */
function exec(flags: readonly string[], script: string, env: Environment = {}): Promise<Finished> {
  const command = [process.execPath, '--input-type=module', '-e', script];
  return runCommand(['exec', ...flags, '--', ...command], env);
}

function client(name: string, ...flags: readonly string[]): Promise<Finished> {
  return runCommand(['exec', ...flags, '--', process.execPath, join(CLIENTS, `${name}.mjs`)]);
}

/** What a script calls the service with. */
const CALL = `
  const { PETSTORE_MOCK_URL: url, PETSTORE_MOCK_KEY: key } = process.env;
  const call = async (method, path) =>
    (await fetch(url + path, { method, headers: { Authorization: 'Bearer ' + key } })).status;
`;

const PRINT_ENVIRONMENT = `
  const own = Object.entries(process.env).filter(([name]) => name.startsWith('PETSTORE_MOCK_'));
  console.log(JSON.stringify(Object.fromEntries(own)));
`;

describe.concurrent('the command', () => {
  test('is told the server, a key that works and the control API', async () => {
    const { code, stdout } = await exec(
      ['--key', 'mine'],
      `${CALL}
      const health = await fetch(process.env.PETSTORE_MOCK_CONTROL_URL + '/health');
      console.log(url.replace(/:\\d+/, ''), key, health.status, await call('GET', '/pets'));`,
    );
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'http://127.0.0.1/v1 mine 200 200\n' });
  });

  test.each([
    [['--invalid-key', 'demo-key'], 'demo-read-only-key'],
    [['--scenario', 'invalid-keys'], 'demo-key'],
  ])('with %j gets a key that is as good as there is', async (flags, key) => {
    const { stdout } = await exec(flags, PRINT_ENVIRONMENT);
    expect(JSON.parse(stdout).PETSTORE_MOCK_KEY).toBe(key);
  });

  test('is told no control API where there is none', async () => {
    const outer = { PETSTORE_MOCK_CONTROL_URL: 'http://127.0.0.1:1/__mock' };
    const { stdout } = await exec(['--no-control'], PRINT_ENVIRONMENT, outer);
    expect(Object.keys(JSON.parse(stdout)).sort()).toEqual([
      'PETSTORE_MOCK_KEY',
      'PETSTORE_MOCK_URL',
    ]);
  });

  test('is told the token of the control API off loopback', async () => {
    const script = `
      const { PETSTORE_MOCK_CONTROL_URL: url, PETSTORE_MOCK_CONTROL_TOKEN: token } = process.env;
      const headers = { Authorization: 'Bearer ' + token };
      console.log((await fetch(url + '/state', { headers })).status);
    `;
    expect((await exec(['--host', '0.0.0.0'], script)).stdout).toBe('200\n');
  });

  test('can start a petstore-mock, which takes none of this for flags', async () => {
    const main = join(packageRoot, 'dist/cli/main.js');
    const inner = [process.execPath, main, 'exec', '--', process.execPath, '-e', PRINT_ENVIRONMENT];
    const { code, stdout } = await runCommand(['exec', '--key', 'outer', '--', ...inner]);
    expect(code).toBe(0);
    expect(JSON.parse(stdout).PETSTORE_MOCK_KEY).toBe('demo-key');
  });

  test('has its words as they are, and the input and output that we have', async () => {
    const words = ['--no-control', '--port', 'x', '--', '', 'a b', '--help'];
    const script = 'console.log(JSON.stringify(process.argv.slice(1))); console.error("own")';
    const command = [process.execPath, '-e', script, '--', ...words];
    const { code, stdout, stderr } = await runCommand(['exec', '--', ...command]);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toEqual(words);
    expect(stderr).toMatch(/^own\npetstore-mock\n/);
  });

  test.each([
    ['process.exit(7)', 7, ''],
    ['process.kill(process.pid, "SIGKILL")', 137, 'was ended by SIGKILL (signal 9)'],
  ])('gives its status: %s', async (script, status, message) => {
    const { code, stderr } = await exec(['--require-coverage', 'documented'], script);
    expect(code).toBe(status);
    expect(stderr).toContain(message);
    expect(stderr).not.toContain('--require-coverage');
  });

  test('is told of where it cannot be started', async () => {
    const file = join(folder, 'no-program');
    writeFileSync(file, '', { mode: 0o600 });
    const [missing, forbidden] = await Promise.all([
      runCommand(['exec', '--', join(folder, 'none')]),
      runCommand(['exec', '--', file]),
    ]);
    expect(missing).toMatchObject({ code: 127, stdout: '' });
    expect(missing.stderr).toMatch(/none cannot be started: there is no such program\n$/);
    expect(forbidden).toMatchObject({ code: 126, stdout: '' });
    expect(forbidden.stderr).toMatch(/cannot be started: it is no program, or may not be run\n$/);
  });

  test('that is missing is asked for', async () => {
    const [none, unmarked] = await Promise.all([
      runCommand(['exec']),
      runCommand(['exec', 'npm', 'test']),
    ]);
    expect(none).toMatchObject({ code: 2, stdout: '' });
    expect(none.stderr).toContain('petstore-mock exec -- npm test');
    expect(unmarked).toMatchObject({ code: 2, stdout: '' });
    expect(unmarked.stderr).toContain('found "npm"');
  });

  test('has its log on standard error', async () => {
    const { stdout, stderr } = await exec(['--log', 'json'], `${CALL} await call('GET', '/pets');`);
    expect(stdout).toBe('');
    expect(stderr).toContain('"target":"/v1/pets"');
  });
});

describe.concurrent('the end', () => {
  test.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)('%s reaches the command', async (signal) => {
    const script = `
      for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
        process.on(signal, () => { console.log(signal); process.exit(5); });
      }
      setInterval(() => {}, 1000);
      console.log('up');
    `;
    const { child, printed, exited } = spawnCommand(['exec', '--', process.execPath, '-e', script]);
    child.stdout.once('data', () => child.kill(signal));
    expect((await exited).code).toBe(5);
    expect(printed.stdout).toBe(`up\n${signal}\n`);
  });

  test('leaves nothing running that the command has started', async () => {
    const file = join(folder, 'left.pid');
    const script = `
      import { spawn } from 'node:child_process';
      import { writeFileSync } from 'node:fs';
      const left = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
      writeFileSync(${JSON.stringify(file)}, String(left.pid));
      process.exit(0);
    `;
    expect((await exec([], script)).code).toBe(0);
    expect(isRunning(Number(readFileSync(file, 'utf8')))).toBe(false);
  });

  test('comes to what outlives --timeout', async () => {
    const { code, stderr } = await exec(['--timeout', '1'], 'setInterval(() => {}, 1000)');
    expect(code).toBe(124);
    expect(stderr).toContain('took longer than 1 s, and was ended');
  });

  test.each([true, false])('comes by force where it must (apart: %s)', async (apart) => {
    const file = join(folder, `stubborn-${apart}.pids`);
    const stay = 'process.on("SIGTERM", () => {}); setInterval(() => {}, 1000);';
    const script = `
      const inner = require('node:child_process').spawn(
        process.execPath,
        ['-e', ${JSON.stringify(`${stay} console.log('up')`)}],
      );
      ${stay}
      inner.stdout.once('data', () => {
        require('node:fs').writeFileSync(${JSON.stringify(file)}, process.pid + ' ' + inner.pid);
        console.log('up');
      });
    `;
    const command = runChild([process.execPath, '-e', script], {
      environment: process.env,
      onOutput: () => command.stop(),
      apart,
      grace: 50,
    });
    expect(await command.ending).toEqual({ kind: 'signalled', signal: 'SIGKILL' });
    const pids = readFileSync(file, 'utf8').split(' ').map(Number);
    expect(pids.map(isRunning)).toEqual([false, false]);
  });
});

/** Whether a process runs. One that has ended may still be listed until its parent looks. */
function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

describe.concurrent('the evidence', () => {
  test('is what the command was shown', async () => {
    const { code, stdout, stderr } = await client('correct');
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
    expect(stderr).toMatch(/shown +8 of 16 documented replies \(50%\) in 8 calls\n/);
    expect(stderr).toMatch(/not shown +createPet 401, getPet 200 401,/);
  });

  test('asks whether the command knows the server where it made no call', async () => {
    const { stderr } = await exec([], '');
    expect(stderr).toContain('in 0 calls');
    expect(stderr).toContain('PETSTORE_MOCK_URL');
  });

  test('holds a command back that was shown too little', async () => {
    const [all, half, more] = await Promise.all([
      client('correct', '--require-coverage', 'documented'),
      client('correct', '--require-coverage', '50%'),
      client('correct', '--require-coverage', '51%'),
    ]);
    expect([all.code, half.code, more.code]).toEqual([3, 0, 3]);
    expect(all.stderr).toContain('50% of the documented replies were shown, not 100%: missing');
    expect(more.stderr).toContain('not 51%: missing');
  });

  test('holds no command back that was shown all', async () => {
    const documented = OPERATION_IDS.flatMap((id) => Object.keys(OPERATIONS[id].replies));
    expect(documented).toHaveLength(16);
    const script = `${CALL}
      const send = (method, path, body, token = key) => fetch(url + path, { method, body,
        headers: { Authorization: 'Bearer ' + token, 'Content-Type': 'application/json' } });
      for (const token of [key, 'wrong']) {
        await send('GET', '/pets', undefined, token);
        await send('POST', '/pets', '{"name":"Rex","categoryId":1}', token);
        await send('GET', '/pets/1', undefined, token);
        await send('GET', '/inventory', undefined, token);
        await send('PATCH', '/inventory/1', '{"quantity":1}', token);
        await send('GET', '/store/orders', undefined, token);
        for (const id of [1, 2, 999]) await send('DELETE', '/store/orders/' + id, undefined, token);
      }`;
    const { code, stderr } = await exec(['--require-coverage', 'documented'], script);
    expect(stderr).toContain('16 of 16 documented replies (100%)');
    expect(stderr).not.toContain('not shown');
    expect(code).toBe(0);
  });

  test('holds a command back that was shown what is assumed', async () => {
    const script = `${CALL} await call('GET', '/pets?limit=0');`;
    const [held, passed] = await Promise.all([
      exec(['--fail-on', 'rounded-id,assumed'], script),
      client('correct', '--fail-on', 'assumed'),
    ]);
    expect([held.code, passed.code]).toEqual([3, 0]);
    expect(held.stderr).toMatch(/--fail-on assumed: .*limit-out-of-range=reject/);
  });

  test('is written to a file', async () => {
    const file = join(folder, 'coverage.json');
    const { code } = await client('correct', '--coverage', file);
    expect(code).toBe(0);
    const { coverage, findings } = JSON.parse(readFileSync(file, 'utf8'));
    expect(coverage.totals.documented).toEqual({ shown: 8, total: 16, percent: 50 });
    expect(coverage.documented).toContainEqual(
      expect.objectContaining({ operation: 'cancelOrder', status: 409, count: 1 }),
    );
    expect(Object.keys(findings.counts)).toEqual(['experimental']);
  });

  test.each([
    [['--coverage', 'coverage.txt'], 'a name that ends in .json'],
    [['--fail-on', 'asumed'], 'did you mean assumed?'],
    [['--fail-on', 'assumed,rounded_id'], 'did you mean rounded-id?'],
    [['--require-coverage', 'documentd'], 'did you mean documented?'],
    [['--require-coverage', '101%'], 'a percentage from 0% to 100%'],
    [['--jobs', '2'], '--jobs is no flag of exec (sweep has one)'],
  ])('is not asked for as %j', async (flags, message) => {
    const { code, stdout, stderr } = await exec(flags, 'console.log("ran")');
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(message);
  });
});
