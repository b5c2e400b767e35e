import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { MAIN } from '../../helpers/command.ts';
import { serverFor } from '../../helpers/deployment.ts';
import { temporaryFolder } from '../../helpers/folder.ts';
import { runInProcess, serveInProcess } from '../../helpers/invocation.ts';
import { runProgram } from '../../helpers/program.ts';

const folder = temporaryFolder();

describe('--db', () => {
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
    const server = await serverFor({ db: file, fixture, watch: true, onReload });
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
    const first = await serveInProcess(args);
    const headers = { Authorization: 'Bearer demo-key', 'Content-Type': 'application/json' };
    const body = '{"name":"Rex","categoryId":1}';
    const created = await fetch(`${first.url}/pets`, { method: 'POST', headers, body });
    const { id } = Object(await created.json());
    const second = await runInProcess(args);
    expect(second).toMatchObject({ code: 1, stdout: '' });
    expect(second.stderr).toMatch(/^petstore-mock: .* is in use by another server: .*\n$/);
    await first.stop();
    expect(JSON.parse(readFileSync(file, 'utf8')).orders).toEqual([]);
    const again = await serveInProcess(args);
    expect((await fetch(`${again.url}/pets/${id}`, { headers })).status).toBe(200);
    await again.stop();
  });

  test('a change that cannot be saved gets 503, and is not made', async () => {
    const file = join(folder, 'unsaved.json');
    const inTheWay = join(folder, '.unsaved.json.tmp');
    const server = await serveInProcess(['--port', '0', '--log', 'off', '--db', file]);
    const headers = { Authorization: 'Bearer demo-key' };
    const cancel = () => fetch(`${server.url}/store/orders/1`, { method: 'DELETE', headers });
    mkdirSync(inTheWay);
    const refused = await cancel();
    expect(refused.status).toBe(503);
    expect(await refused.json()).toEqual({
      code: 'not_saved',
      message: expect.stringMatching(`^the change was not made: ${file}: .*EISDIR`),
      status: 503,
    });
    const body = JSON.stringify({ scenarios: ['empty-store'] });
    const init = { method: 'PUT', headers: { 'Content-Type': 'application/json' }, body };
    const control = await fetch(new URL('/__mock/scenario', server.url), init);
    expect(await control.json()).toMatchObject({ code: 'not_saved', status: 503 });
    expect((await fetch(`${server.url}/pets/1`, { headers })).status).toBe(200);
    rmdirSync(inTheWay);
    expect((await cancel()).status).toBe(204);
    expect((await server.stop()).code).toBe(0);
    expect(readdirSync(folder).filter((name) => name.includes('unsaved'))).toEqual([
      'unsaved.json',
    ]);
  });
});

/** Whether this machine lets a test have namespaces of its own, as containers do. */
const hasNamespaces = spawnSync('unshare', ['-rmpf', 'true']).status === 0;

describe.runIf(hasNamespaces)('--db in a container', () => {
  /** Runs the command in a container that runs a line of shell first, with FILE as `$0`. */
  function runInContainer(file: string, setup: string) {
    const flags = ['--port', '0', '--log', 'off', '--db', file];
    const command = ['sh', '-c', `${setup} && exec "$@"`, file, process.execPath, MAIN, ...flags];
    return runProgram('unshare', ['-rmpf', '--mount-proc', '--kill-child', ...command]);
  }

  test('a file that a server outside has is refused', async () => {
    const file = join(folder, 'contained.json');
    const server = await serveInProcess(['--port', '0', '--log', 'off', '--db', file]);
    const { code, output } = await runInContainer(file, 'true');
    expect(code).toBe(1);
    expect(output).toContain(`${file} is in use by another server: `);
    await server.stop();
    expect(server.stderr()).toBe('');
  });

  test('a mounted file is refused, since nothing could replace it', async () => {
    const file = join(folder, 'mounted.json');
    const { code, output } = await runInContainer(
      file,
      'echo "{}" > "$0" && mount --bind "$0" "$0"',
    );
    expect(code).toBe(1);
    expect(output).toContain(`${file}: it is a mount point, which cannot be replaced`);
  });
});
