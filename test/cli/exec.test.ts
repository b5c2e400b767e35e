import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { childEnvironment, describeEnding, runChild } from '../../src/cli/child.ts';
import type { KeyLists } from '../../src/core/service/keyring.ts';
import { packageRoot } from '../../src/server/files.ts';
import { type CallMock, clientCommand } from '../helpers/client-command.ts';
import { spawnCommand } from '../helpers/command.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { runInProcess, startInProcess } from '../helpers/invocation.ts';
import { type Environment, waitForEnd } from '../helpers/program.ts';

const folder = temporaryFolder();

const CLIENTS = join(packageRoot, 'test/fixtures-clients');

/** Runs calls under `exec`. */
async function exec(flags: readonly string[], call: CallMock, env: Environment = {}) {
  return runInProcess(['exec', ...flags, '--', ...(await clientCommand(call))], env);
}

/** Runs a script of the shell under `exec`; it starts faster than Node. */
function execShell(flags: readonly string[], script: string) {
  return runInProcess(['exec', '--allow-no-calls', ...flags, '--', 'sh', '-c', script]);
}

function client(name: string, ...flags: readonly string[]) {
  return runInProcess(['exec', ...flags, '--', process.execPath, join(CLIENTS, `${name}.mjs`)]);
}

const server = { url: 'http://127.0.0.2:1/v1', controlToken: 't', certificate: undefined };

describe.concurrent('the command', () => {
  test('receives the server, a working key and the control API, not those of a surrounding exec', async () => {
    const outer = childEnvironment(server, { keys: { valid: ['outer'] } }, [], {});
    const env = Object.fromEntries(
      Object.entries(outer).map(([name, value = '']) => [name, value]),
    );
    const received: unknown[] = [];
    const call: CallMock = async ({ url, key, control }) => {
      const pets = await fetch(`${url}/pets`, { headers: { Authorization: `Bearer ${key}` } });
      received.push(key, pets.status, (await fetch(`${control}/health`)).status);
    };
    for (const flags of [[], ['--key', 'mine']])
      expect(await exec(flags, call, env)).toMatchObject({ code: 0, stdout: '' });
    expect(received).toEqual(['demo-key', 200, 200, 'mine', 200, 200]);
  });

  const proxy = { HTTP_PROXY: 'http://127.0.0.1:9', no_proxy: 'a.test' };
  const own = 'localhost,127.0.0.1,::1,127.0.0.2';
  const past = `a.test,${own}`;
  test.each<[KeyLists, { keys: KeyLists }[], Environment, object]>([
    [{}, [], {}, { PETSTORE_MOCK_KEY: 'demo-key', PETSTORE_MOCK_CONTROL_TOKEN: 't' }],
    [{ invalid: ['demo-key'] }, [], {}, { PETSTORE_MOCK_KEY: 'demo-read-only-key' }],
    [{}, [{ keys: { invalid: 'all' } }], {}, { PETSTORE_MOCK_KEY: 'demo-key' }],
    [{}, [], proxy, { NO_PROXY: past, no_proxy: past }],
    [{}, [], { HTTP_PROXY: '' }, { NO_PROXY: undefined }],
    [{}, [], { ...proxy, no_proxy: '*' }, { NO_PROXY: '*', no_proxy: '*' }],
    [{}, [], { ...proxy, NO_PROXY: 'b.test' }, { NO_PROXY: `b.test,${own}`, no_proxy: past }],
    [{}, [], { ...proxy, NO_PROXY: '' }, { NO_PROXY: past, no_proxy: past }],
    [{}, [], { ALL_PROXY: 'http://127.0.0.1:9' }, { NO_PROXY: own, no_proxy: own }],
  ])(
    'with keys %j, scenarios %j and variables %j has %j',
    (keys, scenarios, inherited, expected) => {
      const told = childEnvironment(server, { keys }, scenarios, inherited);
      const names = Object.keys(expected);
      expect(Object.fromEntries(names.map((name) => [name, told[name]]))).toEqual(expected);
    },
  );

  test('gets no control API if it is off, not even that of a surrounding exec', () => {
    const outer = { PETSTORE_MOCK_CONTROL_URL: 'http://127.0.0.1:1/__mock' };
    const told = childEnvironment(server, { noControl: true }, [], outer);
    expect(told.PETSTORE_MOCK_CONTROL_URL).toBeUndefined();
  });

  test('gets variables of its own, its arguments unchanged, and our input and output', async () => {
    const words = ['--no-control', '--port', 'x', '--', '', 'a b', '--help'];
    const script = `
      cat; printf "<%s>" "$@"; echo own >&2
      echo "$BASE" = "$PETSTORE_MOCK_URL", "$K", "$C" = "$PETSTORE_MOCK_CONTROL_URL"
    `;
    const named = ['BASE=url', 'K=key', 'C=control'].flatMap((it) => ['--env', it]);
    const flags = ['--allow-no-calls', '--key', 'k', ...named];
    const { child, printed, exited } = spawnCommand([
      ...['exec', ...flags, '--', 'sh', '-c', script, 'sh', ...words],
    ]);
    child.stdin.end('input');
    expect((await exited).code).toBe(0);
    const shown = `input${words.map((word) => `<${word}>`).join('')}`;
    expect(printed.stdout.slice(0, shown.length)).toBe(shown);
    expect(printed.stdout.slice(shown.length)).toMatch(
      /^(http:\S+) = \1, k, (http:\S+__mock) = \2\n$/,
    );
    expect(printed.stderr).toMatch(/^own\npetstore-mock\n/);
  });

  test.each([
    ['exit 7', 7, ''],
    ['kill -KILL $$', 137, 'was killed by SIGKILL (signal 9)'],
  ])('determines the exit code: %s', async (script, status, message) => {
    const file = join(folder, `failed-${status}.xml`);
    const flags = ['--require-coverage', 'documented', '--coverage', file];
    const { code, stderr } = await execShell(flags, script);
    expect(code).toBe(status);
    expect(stderr).toContain(message);
    expect(stderr).not.toContain('--require-coverage');
    expect(readFileSync(file, 'utf8')).toContain(' failures="0" errors="0" skipped="16"');
  });

  test('is reported if it cannot be started', async () => {
    const { code, stdout, stderr } = await runInProcess(['exec', '--', join(folder, 'none')]);
    expect({ code, stdout }).toEqual({ code: 127, stdout: '' });
    expect(stderr).toMatch(/none cannot be started: no such program\n$/);
    const file = join(folder, 'no-program');
    writeFileSync(file, '', { mode: 0o600 });
    const ending = await runChild([file], { environment: {}, ownGroup: true }).ending;
    const text = 'cannot be started: it is not executable';
    expect(describeEnding(ending)).toEqual({ exitCode: 126, text });
    const long = await runChild(['true', 'x'.repeat(4e6)], { environment: {}, ownGroup: true });
    expect(describeEnding(await long.ending)).toEqual({
      exitCode: 126,
      text: 'cannot be started: its words and the environment are too long',
    });
  });
});

// One at a time: a signal reaches all commands that run.
test.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)('%s reaches the command', async (signal) => {
  const file = join(folder, signal);
  const script = `
    for name in INT TERM HUP; do trap "echo SIG$name >> ${file}; exit 5" $name; done
    echo up > ${file}
    while :; do sleep 0.05; done
  `;
  const { kill } = startInProcess(['exec', '--', 'sh', '-c', script]);
  await expect.poll(() => existsSync(file), { interval: 20 }).toBe(true);
  expect((await kill(signal)).code).toBe(5);
  expect(readFileSync(file, 'utf8')).toBe(`up\n${signal}\n`);
});

describe.concurrent('stopping', () => {
  test('leaves no process of the command running', async () => {
    const file = join(folder, 'left.pid');
    const { code } = await execShell([], `sleep 1000 & echo $! > ${file}; exit 3`);
    expect(code).toBe(3);
    await waitForEnd(Number(readFileSync(file, 'utf8')));
  });

  test('--timeout ends a command that runs too long', async () => {
    const words = ['exec', '--timeout', '500', '--', 'sleep', '1000'];
    const { code, stderr } = await runInProcess(words);
    expect(code).toBe(124);
    expect(stderr).toContain('timed out after 0.5 s');
  });

  test('kills a command that ignores SIGTERM', async () => {
    const file = join(folder, 'stubborn.pids');
    // Commands inherit the ignored signals of their shell.
    const script = `trap "" TERM; sleep 1000 & echo "$$ $!" > ${file}; echo up; wait`;
    const command = runChild(['sh', '-c', script], {
      environment: process.env,
      onOutput: () => command.stop(),
      ownGroup: true,
      grace: 50,
    });
    expect(await command.ending).toEqual({ kind: 'signalled', signal: 'SIGKILL' });
    const pids = readFileSync(file, 'utf8').split(' ').map(Number);
    await Promise.all(pids.map(waitForEnd));
  });
});

describe.concurrent('the report', () => {
  test('lists the replies that the command was shown, and fails if they are too few', async () => {
    const file = join(folder, 'missed.xml');
    const flags = ['--require-coverage', '26%', '--coverage', file];
    const { code, stdout, stderr } = await client('error-on-409', ...flags);
    expect({ code, stdout }).toEqual({ code: 3, stdout: '' });
    expect(stderr).toMatch(/shown +4 of 16 documented replies \(25%\) in 4 calls\n/);
    expect(stderr).toMatch(/not shown +listPets 200 401, createPet 201 401,/);
    expect(stderr).toMatch(/findings +none\n {2}open questions +\d+ touched; petstore-mock sweep/);
    expect(stderr).toContain(
      '25% of the documented replies were shown, not 26%; missing: listPets',
    );
    expect(readFileSync(file, 'utf8')).toContain(' failures="13"');
  });

  test('has only unavoidable findings for a correct client', async () => {
    const file = join(folder, 'coverage.json');
    const flags = ['--require-coverage', 'documented', '--fail-on', 'assumed', '--coverage', file];
    const { code, stderr } = await client('correct', ...flags);
    expect(stderr).toContain('16 of 16 documented replies (100%)');
    expect(stderr).not.toMatch(/not shown|assumed/);
    expect(code).toBe(0);
    const { coverage, findings } = JSON.parse(readFileSync(file, 'utf8'));
    expect(coverage.totals.documented).toEqual({ shown: 16, total: 16, percent: 100 });
    expect(coverage.documented).toContainEqual(
      expect.objectContaining({ operation: 'cancelOrder', status: 409, count: 2 }),
    );
    expect(Object.keys(findings.counts).sort()).toEqual(['deprecated', 'experimental']);
  });

  test('has the exchanges as HAR and in the page, whatever became of their sandbox', async () => {
    const [har, page] = ['run.har', 'run.html'].map((name) => join(folder, name));
    const call: CallMock = async ({ url, key, control }) => {
      const headers = { Authorization: `Bearer ${key}` };
      await fetch(url.replace('/v1', '/~gone/v1/inventory'), { headers });
      await fetch(`${control}/sandboxes/gone`, { method: 'DELETE' });
      const body = '{"name":"Rex","categoryId":9007199254740993}';
      const all = { ...headers, api_key: key };
      await fetch(`${url}/pets?api_key=${key}`, { method: 'POST', headers: all, body });
      const arrange = (what: string, content: string) =>
        fetch(control + what, {
          method: 'POST',
          headers: { 'Content-Type': 'application/json' },
          body: content,
        });
      await arrange('/holds', '{"on":"listOrders","hold":"late"}');
      const held = fetch(`${url}/store/orders`, { headers });
      await arrange('/requests/count', '{"hold":"late","atLeast":1,"within":"PT9S"}');
      await arrange('/holds/release', '{}');
      await held;
    };
    const flags = ['--key', 'my-secret', '--har', `${har}`, '--coverage', `${page}`];
    const { code, stderr } = await exec(flags, call);
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringMatching(/ in 3 calls\n/) });
    const { log } = JSON.parse(readFileSync(`${har}`, 'utf8'));
    expect(log.pages).toMatchObject([{ id: 'gone' }, { id: 'default' }]);
    expect(log.entries).toMatchObject([
      {
        pageref: 'gone',
        request: { url: expect.stringMatching(/^http:.*\/~gone\/v1\/inventory/) },
      },
      { pageref: 'default', request: { postData: { text: expect.stringMatching('0993') } } },
      { pageref: 'default', response: { comment: 'released as late' } },
    ]);
    const started = log.entries.map((entry: { startedDateTime: string }) => entry.startedDateTime);
    expect(started).toEqual(started.toSorted());
    const html = readFileSync(`${page}`, 'utf8');
    expect(html).toMatch(/"sandbox":"gone".*"sandbox":"default".*9007199254740993/);
    expect(html.includes('my-secret') || JSON.stringify(log).includes('my-secret')).toBe(false);
  });

  test('fails if the client sends something else than in an earlier run', async () => {
    const file = join(folder, 'calls.txt');
    const summary = join(folder, 'calls.md');
    const test =
      (more?: string): CallMock =>
      async ({ url, key }) => {
        const headers = { Authorization: `Bearer ${key}` };
        const inSandbox = async (name: string) => {
          const base = url.replace('/v1', `/~${name}${randomUUID()}/v1`);
          for (const path of ['/pets', '/pets/1']) await fetch(base + path, { headers });
        };
        await Promise.all(['b-', 'a-', ''].map(inSandbox));
        if (more !== undefined) await fetch(url + more, { headers });
      };
    const written = await exec(['--calls', file], test());
    expect(written.code).toBe(0);
    expect(readFileSync(file, 'utf8')).toMatch(
      /^.*\nsandbox \*\n(?: .*\n)*sandbox a-\*\n(?: .*\n)*sandbox b-\*\n/,
    );
    const same = await exec(['--against', file, '--key', 'other'], test());
    expect(same).toMatchObject({ code: 0, stderr: expect.not.stringContaining('--against') });
    const env = { GITHUB_STEP_SUMMARY: summary, GITHUB_WORKSPACE: folder };
    const { code, stderr } = await exec(['--against', file], test('/pets/3'), env);
    expect(code).toBe(3);
    expect(stderr).toMatch(/^ {2}\+ sandbox default\n {2}\+ {3}GET \/v1\/pets\/\{id:1\}\n/m);
    expect(stderr).toMatch(/^::warning file=calls.txt,line=\d+::0 lines less, \d+ lines more%0A/m);
    expect(stderr).toMatch(
      /^petstore-mock: --against: the calls differ from .*calls.txt: 0 lines/m,
    );
  });

  test('is appended to the summary of a step on GitHub, and nowhere else', async () => {
    const summary = join(folder, 'summary.md');
    writeFileSync(summary, 'before\n');
    const call: CallMock = async ({ url, key }) => {
      const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
      const body = '{"name":"Rex","categoryId":1}';
      await fetch(`${url}/pets`, { method: 'POST', headers, body });
      await fetch(`${url}/pets/1`, { headers });
    };
    const run = (env: Environment) => exec(['--require-coverage', '13%'], call, env);
    const [plain, told] = [await run({}), await run({ GITHUB_STEP_SUMMARY: summary })];
    expect(told).toEqual(plain);
    const [before, empty, head, ...rows] = readFileSync(summary, 'utf8').split('\n');
    expect([before, empty, head]).toEqual([
      'before',
      '',
      expect.stringMatching(/^\| petstore-mock \| /),
    ]);
    expect(rows).toEqual(
      expect.arrayContaining([
        '| shown | 2 of 16 documented replies (12%) in 2 calls |',
        expect.stringMatching(/^\| deprecated \| GET \/v1\/pets/),
        expect.stringMatching(
          /^\| failed \| --require-coverage&#58; 12% of the documented replies/,
        ),
      ]),
    );
  });

  test.each([
    [['--require-coverage', '5%', '--fail-on', 'assumed'], 'exit 0', 1, true],
    [[], 'exit 7', 7, true],
    [['--allow-no-calls'], 'exit 0', 0, false],
  ])('fails a command that made no call: %j %s', async (flags, script, status, isTold) => {
    const { code, stderr } = await runInProcess(['exec', ...flags, '--', 'sh', '-c', script]);
    expect(code).toBe(status);
    expect(stderr).toContain('in 0 calls');
    expect(stderr.includes('no client has called the mock: does it take its base URL from')).toBe(
      isTold,
    );
    expect(stderr).not.toMatch(/open questions|--require-coverage:/);
  });

  test('names the calls that reach no operation, in JUnit too', async () => {
    const file = join(folder, 'unmatched.xml');
    const call: CallMock = async ({ url, key }) => {
      for (const path of ['/v1/pets', '/v1/pets', '/v1/pets', '/pet']) await fetch(url + path);
      const headers = { Authorization: `Bearer ${key}`, Prefer: 'code=503' };
      await fetch(`${url}/pets`, { headers });
    };
    const { code, stderr } = await exec(['--fail-on', 'unmatched', '--coverage', file], call);
    expect(code).toBe(3);
    const lines = stderr.replaceAll(/\s+/g, ' ');
    expect(lines).toMatch(
      /unmatched GET \/v1\/v1\/pets \(3 times\): No .*did you mean \/v1\/pets\?\)\. GET /,
    );
    expect(lines).toMatch(/ forced 1 reply by a scenario or Prefer /);
    expect(lines).toMatch(/--fail-on unmatched: 4 times: .* GET \/v1\/pet: No operation/);
    const xml = readFileSync(file, 'utf8');
    expect(xml).toMatch(/name="unmatched: 4"(?:.|\n)*GET \/v1\/v1\/pets \(3 times\)/);
    expect(xml).toMatch(/name="--fail-on unmatched"><failure message="4 times: GET \/v1\/v1\/pets/);
  });

  test.each([
    ['--coverage coverage.txt', 'a name that ends in .json'],
    ['--fail-on assumed,rounded_id', 'did you mean rounded-id?'],
    ['--require-coverage 0.8', 'a percentage from 0% to 100%'],
    [
      '--env A=url --env B=kye',
      'expected NAME=url, NAME=key or NAME=control, found "B=kye" (did you mean key?)',
    ],
    ['--env url', 'found "url"'],
    ['--against no.txt', 'expected what --calls has written at no.txt, found'],
    ['--against README.md', 'expected what --calls has written, found something else'],
    ['--calls-parts bodys', 'did you mean body?'],
  ])('refuses %s before the command runs', async (flag, message) => {
    const ran = join(folder, 'ran');
    const words = ['exec', ...flag.split(' '), '--', 'touch', ran];
    const { code, stderr } = await runInProcess(words);
    expect(code).toBe(2);
    expect(stderr).toContain(message);
    expect(existsSync(ran)).toBe(false);
  });

  test('says that a file cannot be written after the command, and then exits with 1', async () => {
    const blocked = join(folder, 'blocked.json');
    const { code, stderr } = await execShell(['--coverage', blocked], `mkdir ${blocked}`);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^petstore-mock: cannot write .*blocked\.json: /m);
    expect(stderr).not.toMatch(/^ +at /m);
  });
});
