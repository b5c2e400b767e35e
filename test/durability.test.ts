import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadFixture } from '../src/store/fixture/load-fixture.ts';
import { createStore } from '../src/store/store.ts';
import { runCommand, startCommand } from './helpers/command.ts';

let folder = '';

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'durability-'));
});

afterAll(() => rmSync(folder, { recursive: true }));

/** Clients that change the store at once. */
const CLIENTS = 16;
const KILLS = 50;

/** Creates an animal; the id that was acknowledged, or undefined where the server was gone first. */
function create(url: string, agent: Agent): Promise<number | undefined> {
  return new Promise((resolve) => {
    const headers = { Authorization: 'Bearer demo-key', 'Content-Type': 'application/json' };
    const sent = request(`${url}/pets`, { method: 'POST', agent, headers }, (reply) => {
      let text = '';
      reply.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      reply.on('end', () => resolve(Number(JSON.parse(text).id)));
      reply.on('error', () => resolve(undefined));
    });
    sent.on('error', () => resolve(undefined));
    sent.end('{"name":"Rex","categoryId":1}');
  });
}

/** The animals in a file, which must be whole. */
function idsIn(file: string): ReadonlySet<number> {
  const store = createStore(loadFixture(file));
  return new Set([...store.animals.ascending()].map(({ id }) => Number(id)));
}

describe('--db', () => {
  test(`a server that is killed ${KILLS} times under load has lost no acknowledged change`, async () => {
    const file = join(folder, 'killed.json');
    const acknowledged = new Set<number>();
    for (let kill = 0; kill < KILLS; kill += 1) {
      const server = await startCommand(['--port', '0', '--log', 'off', '--db', file]);
      const agent = new Agent({ keepAlive: true, maxSockets: CLIENTS });
      // A number of acknowledgements that differs from kill to kill lands anywhere in a write.
      const most = 1 + ((kill * 37) % 90);
      let count = 0;
      const client = async (): Promise<void> => {
        for (;;) {
          const id = await create(server.url, agent);
          if (id === undefined) return;
          acknowledged.add(id);
          count += 1;
          if (count === most) server.process.kill('SIGKILL');
        }
      };
      await Promise.all(Array.from({ length: CLIENTS }, client));
      await server.exited;
      agent.destroy();
      const kept = idsIn(file);
      const lost = [...acknowledged].filter((id) => !kept.has(id));
      expect(lost).toEqual([]);
    }
    expect(acknowledged.size).toBeGreaterThan(KILLS);
  }, 60_000);

  test('a second server on the same file refuses to start, and says who has it', async () => {
    const file = join(folder, 'shared.json');
    const first = await startCommand(['--port', '0', '--db', file]);
    const second = await runCommand(['--port', '0', '--db', file]);
    expect(second.code).toBe(1);
    expect(second.stderr).toContain(
      `${file} is kept by another server, process ${first.process.pid}`,
    );
    await first.stop();
    const third = await startCommand(['--port', '0', '--db', file]);
    expect((await third.stop()).code).toBe(0);
  });

  test('a change survives a restart, and a scenario does not undo it', async () => {
    const file = join(folder, 'restarted.json');
    const args = ['--port', '0', '--log', 'off', '--db', file, '--scenario', 'no-orders'];
    const first = await startCommand(args);
    const id = await create(first.url, new Agent());
    await first.stop();
    expect(JSON.parse(readFileSync(file, 'utf8')).orders).toEqual([]);
    const second = await startCommand(args);
    const reply = await fetch(`${second.url}/pets/${id}`, {
      headers: { Authorization: 'Bearer demo-key' },
    });
    expect(reply.status).toBe(200);
    await second.stop();
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
