import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { Agent } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
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
