import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Agent } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { packageRoot } from '../src/package.ts';
import { startServer } from '../src/server.ts';
import { runCommand, startCommand } from './helpers/command.ts';
import { createAnimal, killUnderLoad } from './helpers/kill.ts';

let folder = '';

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'durability-'));
});

afterAll(() => rmSync(folder, { recursive: true }));

describe('--db', () => {
  test('a server that is killed under load loses no acknowledged change', async () => {
    await killUnderLoad(join(folder, 'killed.json'), 2);
  });

  test('a second server on the same file refuses to start, and names the first', async () => {
    const file = join(folder, 'shared.json');
    const first = await startCommand(['--port', '0', '--db', file]);
    const second = await runCommand(['--port', '0', '--db', file]);
    expect(second.code).toBe(1);
    expect(second.stderr).toContain(
      `${file} is in use by another server (process ${first.process.pid}`,
    );
    await first.stop();
    const third = await startCommand(['--port', '0', '--db', file]);
    expect((await third.stop()).code).toBe(0);
  });

  test('what the file held stays the start after a reload and under a scenario', async () => {
    const [file, fixture] = [join(folder, 'start.json'), join(folder, 'fixture.json')];
    const write = (path: string, name: string) =>
      writeFileSync(
        path,
        JSON.stringify({
          animals: [{ id: 1, name, categoryId: 1 }],
          orders: [{ id: 1, petId: 1 }],
        }),
      );
    write(file, 'File');
    write(fixture, 'Fixture');
    let onReload: (problem: Error | undefined) => void = () => {};
    const reloaded = new Promise<Error | undefined>((resolve) => {
      onReload = resolve;
    });
    const server = await startServer({ port: 0, db: file, fixture, watch: true, onReload });
    onTestFinished(() => server.close());
    const call = async (path: string, method = 'GET', body?: object) => {
      const headers = { authorization: 'Bearer demo-key', 'content-type': 'application/json' };
      const init = { method, headers, ...(body && { body: JSON.stringify(body) }) };
      return (await fetch(new URL(path, server.url), init)).text();
    };
    write(fixture, 'Other');
    expect(await reloaded).toBeUndefined();
    await call('/__mock/reset', 'POST');
    for (const mount of ['', '/~new']) {
      expect(await call(`${mount}/v1/pets`)).toContain('"File"');
      await call(`${mount}/__mock/scenario`, 'PUT', { scenarios: ['no-orders'] });
      expect(await call(`${mount}/v1/pets`)).toContain('"File"');
      expect(await call(`${mount}/v1/store/orders`)).toBe('[]');
    }
  });

  test('a change survives a restart, and a scenario does not undo it', async () => {
    const file = join(folder, 'restarted.json');
    const args = ['--port', '0', '--log', 'off', '--db', file, '--scenario', 'no-orders'];
    const first = await startCommand(args);
    const id = await createAnimal(first.url, new Agent());
    await first.stop();
    expect(JSON.parse(readFileSync(file, 'utf8')).orders).toEqual([]);
    const second = await startCommand(args);
    const reply = await fetch(`${second.url}/pets/${id}`, {
      headers: { Authorization: 'Bearer demo-key' },
    });
    expect(reply.status).toBe(200);
    await second.stop();
  });

  test('a start that fails leaves the file to the next one', async () => {
    const db = join(folder, 'failed.json');
    const failing = startServer({ port: 0, db, upstream: 'nowhere' });
    await expect(failing).rejects.toThrow('upstream: expected');
    const { close } = await startServer({ port: 0, db });
    await close();
  });

  test('a file whose log is gone after a kill is reported', async () => {
    const file = join(folder, 'older.json');
    const flags = ['--port', '0', '--log', 'off', '--db', file];
    const killed = await startCommand(flags);
    killed.process.kill('SIGKILL');
    await killed.exited;
    rmSync(`${file}.log`);
    const server = await startCommand(flags);
    await server.stop();
    expect(server.stderr()).toMatch(
      /older\.json\.log is missing, and the last server \(process \d+ .*\) was killed/,
    );
  });

  test('a change that cannot be saved gets 503, and is not made', async () => {
    const inside = join(folder, 'inside');
    mkdirSync(inside);
    const server = await startCommand([
      '--port',
      '0',
      '--log',
      'off',
      '--db',
      join(inside, 'db.json'),
    ]);
    const headers = { Authorization: 'Bearer demo-key' };
    const cancel = () => fetch(`${server.url}/store/orders/1`, { method: 'DELETE', headers });
    rmSync(inside, { recursive: true });
    const refused = await cancel();
    expect(refused.status).toBe(503);
    expect(await refused.json()).toMatchObject({ code: 'not_saved', status: 503 });
    expect((await fetch(`${server.url}/pets/1`, { headers })).status).toBe(200);
    mkdirSync(inside);
    expect((await cancel()).status).toBe(204);
    expect((await server.stop()).code).toBe(0);
  });
});

/** Whether this machine lets a test have namespaces of its own, as containers do. */
const hasNamespaces = spawnSync('unshare', ['-rmpf', 'true']).status === 0;
const MAIN = join(packageRoot, 'dist/cli/main.js');

describe.runIf(hasNamespaces)('--db in a container', () => {
  /** Starts the command in a container that runs a line of shell first, with FILE as `$0`. */
  function inContainer(file: string, setup: string) {
    const flags = ['--port', '0', '--log', 'off', '--db', file];
    const line = `${setup} && exec "$@"`;
    const command = ['sh', '-c', line, file, process.execPath, MAIN, ...flags];
    const child = spawn('unshare', ['-rmpf', '--mount-proc', '--kill-child', ...command]);
    const printed = { stdout: '', stderr: '' };
    child.stdout.on('data', (text) => {
      printed.stdout += text;
    });
    child.stderr.on('data', (text) => {
      printed.stderr += text;
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    return { child, printed, exited: once(child, 'close') };
  }

  test('a file that a server outside has is refused', async () => {
    const file = join(folder, 'contained.json');
    const server = await startCommand(['--port', '0', '--log', 'off', '--db', file]);
    const { printed, exited } = inContainer(file, 'true');
    expect(await exited).toEqual([1, null]);
    expect(printed.stderr).toContain(
      `${file} is in use by another server (process ${server.process.pid}`,
    );
    await server.stop();
    expect(server.stderr()).toBe('');
  });

  test('a mounted file is refused, since nothing could replace it', async () => {
    const file = join(folder, 'mounted.json');
    const { printed, exited } = inContainer(file, 'touch "$0" && mount --bind "$0" "$0"');
    expect(await exited).toEqual([1, null]);
    expect(printed.stderr).toContain(`${file}: it is a mount point, which cannot be replaced`);
  });

  test('a change for which the disk is too full is refused until there is room', async () => {
    const disk = join(folder, 'disk');
    mkdirSync(disk);
    const setup = `mount -t tmpfs -o size=128k tmpfs ${disk} && head -c 60000 /dev/zero > ${disk}/ballast`;
    const { child, printed } = inContainer(join(disk, 'db.json'), setup);
    await expect.poll(() => printed.stdout).toContain('ready');
    const url = new URL('/__mock/animals/1', printed.stdout.split(' ').at(-1)?.trim());
    const headers = { 'Content-Type': 'application/json' };
    const body = JSON.stringify({ name: 'x'.repeat(30_000) });
    const rename = () => fetch(url, { method: 'PATCH', headers, body });
    expect((await rename()).status).toBe(200);
    const refused = await rename();
    expect(refused.status).toBe(503);
    expect(await refused.json()).toMatchObject({
      code: 'not_saved',
      message: `the change was not made: ${disk}/db.json: the disk is full (ENOSPC)`,
    });
    rmSync(`/proc/${child.pid}/root/${disk}/ballast`);
    expect((await rename()).status).toBe(200);
  });
});
