import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { request } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { packageRoot } from '../../src/server/files.ts';
import { readyUrl, startCommand } from '../helpers/command.ts';
import { serverFor } from '../helpers/deployment.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { TOKEN_HOST } from '../helpers/host.ts';
import { runInProcess, serveInProcess } from '../helpers/invocation.ts';
import { spawnProgram } from '../helpers/program.ts';

const folder = temporaryFolder();

const FREE = ['--port', '0'];
const KEY = { Authorization: 'Bearer demo-key' };
const windows = process.platform === 'win32';

function portOf(url: string): string {
  return new URL(url).port;
}

/** Waits until nothing listens on the port any more. */
async function closed(url: string): Promise<void> {
  for (;;) {
    const socket = connect(Number(portOf(url)), '127.0.0.1');
    const outcome = await Promise.race([
      once(socket, 'connect').then(() => 'open'),
      once(socket, 'error').then(() => 'closed'),
    ]).catch(() => 'closed');
    socket.destroy();
    if (outcome === 'closed') return;
  }
}

/** Sends the headers of a request with a body, and waits until the server asks for the body. */
async function openRequest(url: string) {
  const body = JSON.stringify({ name: 'Rex', categoryId: 1 });
  const open = request(`${url}/pets`, {
    method: 'POST',
    headers: {
      ...KEY,
      'Content-Type': 'application/json',
      'Content-Length': body.length,
      Expect: '100-continue',
    },
  });
  const replied = new Promise<number | undefined>((resolve, reject) => {
    open.once('response', (reply) => {
      reply.resume();
      resolve(reply.statusCode);
    });
    open.once('error', reject);
  });
  open.flushHeaders();
  await once(open, 'continue');
  return { replied, finish: () => open.end(body) };
}

describe('ready', () => {
  test('is the only line on standard output without a terminal', async () => {
    const server = await serveInProcess([...FREE, '--log', 'off']);
    expect((await fetch(`${server.url}/pets`, { headers: KEY })).status).toBe(200);
    await server.stop();
    expect(server.stdout()).toMatch(/^petstore-mock ready http:\/\/127\.0\.0\.1:\d+\/v1\n$/);
    expect(server.stderr()).toBe('');
  });

  test('keeps serving when its output is closed', async () => {
    const server = await startCommand(FREE);
    server.process.stdout.destroy();
    expect((await fetch(`${server.url}/pets`, { headers: KEY })).status).toBe(200);
    expect(await server.stop()).toEqual({ code: 0, signal: null });
    expect(server.stderr()).toBe('');
  });
});

describe.skipIf(windows)('a signal', () => {
  test('sent twice at once, as npx does, lets the server finish what is in flight and take no more', async () => {
    const server = await startCommand(FREE);
    const { replied, finish } = await openRequest(server.url);
    server.process.kill('SIGINT');
    server.process.kill('SIGINT');
    await closed(server.url);
    finish();
    expect(await replied).toBe(201);
    expect(await server.exited).toEqual({ code: 0, signal: null });
  });

  test('a repeated SIGTERM exits at once with 143', async () => {
    const server = await startCommand(FREE);
    const { replied } = await openRequest(server.url);
    const lost = expect(replied).rejects.toThrow();
    const repeat = setInterval(() => server.process.kill('SIGTERM'), 20);
    expect(await server.exited).toEqual({ code: 143, signal: null });
    clearInterval(repeat);
    await lost;
  });
});

test.skipIf(windows)('npm start leaves no server behind when npm is ended', async () => {
  const env = { PETSTORE_MOCK_PORT: '0' };
  const started = spawnProgram('npm', ['start', '--silent'], { cwd: packageRoot, env });
  const url = await readyUrl(started);
  started.child.kill('SIGTERM');
  // The server holds the output of npm as long as it runs.
  await started.exited;
  await closed(url);
});

test('a warning of Node is a line of JSON in the log, and is printed by nobody else', async () => {
  const server = await serveInProcess([...FREE, '--log', 'json']);
  expect(process.listenerCount('warning')).toBe(1);
  process.emitWarning('odd');
  await expect.poll(server.stderr).toContain('odd');
  for (const line of server.stderr().trim().split('\n')) JSON.parse(line);
  await server.stop();
});

test('a taken port is reported with a remedy, and the exit code is 1', async () => {
  const { url } = await serverFor();
  const port = portOf(url);
  expect(await runInProcess(['--port', port])).toEqual({
    code: 1,
    stdout: '',
    stderr: `petstore-mock: port ${port} of 127.0.0.1 is taken: stop the program that listens there, or choose another port with --port (0 picks a free one)\n`,
  });
});

describe('a usage error goes to standard error, with exit code 2 and no output', () => {
  // biome-ignore format: a row for each
  test.each([
    [['--config', 'no-such.json'], {}, '--config: expected a JSON file at no-such.json'],
    [['--fixture', 'defautl'], {}, 'did you mean default?'],
    [[], { PETSTORE_MOCK_SCENARIO: 'slow,flakey' }, 'did you mean flaky?'],
    [['--host', 'no.such.invalid', '--port', '0'], {}, '--host: expected an address of this machine'],
    [['--db', 'no/such/folder/db', '--port', '0'], {}, '--db: '],
    [[], { PETSTORE_MOCK_FIXTURE: 'nope' }, 'the store cannot be used\nnope: '],
    [['health', '--url', 'nowhere'], {}, '--url: expected an http URL'],
    [['health', '--port', '0'], {}, '--port: expected the port of the server'],
    [['--upstream', 'http://localhost:4010/v1'], {}, '--upstream points at this server: http:'],
    [['--upstream', 'http://localhost/v1', '--port', '80'], {}, '--upstream points at this server: http:'],
    [['--upstream', 'https://localhost/v1', '--port', '443'], {}, '--upstream points at this server: https:'],
    [['--upstream', 'https://staging.example/v1'], {}, '--yes is required to send requests to staging.'],
    [['openapi', '--server-url', 'x'], {}, '--server-url: expected a URL'],
  ])('%j %j', async (args, env, message) => {
    const { code, stdout, stderr } = await runInProcess(args, env);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/^petstore-mock: /);
    expect(stderr).toContain(message);
    expect(stderr).not.toMatch(/^\s+at /m);
  });
});

describe('the token of the control API', () => {
  const withToken = [...FREE, '--host', TOKEN_HOST, '--log', 'off'];

  test('is printed if generated, and gives access', async () => {
    const server = await serveInProcess(withToken);
    await expect.poll(server.stderr).toMatch(/ requires the token \S+ /);
    const [, token = ''] = / the token ([\da-f]{32}) /.exec(server.stderr()) ?? [];
    const url = new URL('/__mock/assumptions', server.url);
    const headers = { Authorization: `Bearer ${token}` };
    expect((await fetch(url)).status).toBe(401);
    expect((await fetch(url, { headers })).status).toBe(200);
    await server.stop();
    expect(server.stdout()).toMatch(/^petstore-mock ready \S+\n$/);
  });

  test.each([
    ['was given', { PETSTORE_MOCK_CONTROL_TOKEN: 'given-token' }],
    ['opens nothing', { PETSTORE_MOCK_NO_CONTROL: '1' }],
  ])('is not printed if it %s', async (_what, env) => {
    const server = await serveInProcess(withToken, env);
    await server.stop();
    expect(server.stderr()).toBe('');
  });
});

test('--coverage is written when the server is stopped', async () => {
  const [json, html] = [join(folder, 'seen.json'), join(folder, 'seen.html')];
  const server = await serveInProcess([...FREE, '--coverage', json, '--coverage', html]);
  await (await fetch(`${server.url}/pets`, { headers: KEY })).text();
  expect(existsSync(json)).toBe(false);
  expect((await server.stop()).code).toBe(0);
  const { coverage } = JSON.parse(readFileSync(json, 'utf8'));
  expect(coverage.totals.documented).toEqual({ shown: 1, total: 16, percent: 6 });
  expect(readFileSync(html, 'utf8')).toContain('<!doctype html>');
});
