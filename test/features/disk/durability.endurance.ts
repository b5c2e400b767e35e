import { mkdirSync, rmdirSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { loadFixture } from '../../../src/server/fixtures.ts';
import { runCommand, startCommand } from '../../helpers/command.ts';
import { temporaryFolder } from '../../helpers/folder.ts';

const folder = temporaryFolder();

const KILLS = 20;

/** Clients that create animals, and as many that rename one each. */
const CLIENTS = 8;

/** Sends a change. Returns its reply, or undefined if the server was killed before that was read. */
async function send(url: URL, method: string, body: object): Promise<unknown> {
  const headers = { Authorization: 'Bearer demo-key', 'Content-Type': 'application/json' };
  try {
    const reply = await fetch(url, { method, headers, body: JSON.stringify(body) });
    return await reply.json();
  } catch {
    return undefined;
  }
}

/** Long enough that a write takes a while. */
const PADDING = 'x'.repeat(20_000);

test('a server that is killed 20 times under load loses no acknowledged change', async () => {
  const file = join(folder, 'killed.json');
  const created = new Set<number>();
  /** The latest version of the name of each animal, and of its latest acknowledged name. */
  const sent = new Array<number>(CLIENTS).fill(0);
  const renamed = new Array<number>(CLIENTS).fill(0);
  for (let kill = 0; kill < KILLS; kill += 1) {
    const server = await startCommand(['--port', '0', '--log', 'off', '--db', file]);
    const at = (path: string): URL => new URL(path, server.url);
    // A number of acknowledgements that differs from kill to kill lands anywhere in a write.
    const most = 1 + ((kill * 37) % 60);
    let count = 0;
    const acknowledge = (): void => {
      count += 1;
      if (count === most) server.process.kill('SIGKILL');
    };
    const create = async (): Promise<void> => {
      for (;;) {
        const reply = await send(at('/v1/pets'), 'POST', { name: 'Rex', categoryId: 1 });
        if (reply === undefined) return;
        created.add(Object(reply).id);
        acknowledge();
      }
    };
    const renaming = async (_: number, index: number): Promise<void> => {
      for (;;) {
        const version = (sent[index] ?? 0) + 1;
        sent[index] = version;
        const name = `${version} ${PADDING}`;
        const reply = await send(at(`/__mock/animals/${index + 1}`), 'PATCH', { name });
        if (reply === undefined) return;
        expect(reply).toMatchObject({ name });
        renamed[index] = version;
        acknowledge();
      }
    };
    await Promise.all([...Array.from({ length: CLIENTS }, create), ...sent.map(renaming)]);
    await server.exited;
    // The next server would wait for a sign of life.
    rmdirSync(`${file}.lock`);
    const { animals } = await loadFixture(file);
    expect([...created].filter((id) => !animals.has(BigInt(id)))).toEqual([]);
    for (const [index, version] of renamed.entries()) {
      const kept = Number.parseInt(animals.get(BigInt(index + 1))?.name ?? '', 10) || 0;
      expect(kept).toBeGreaterThanOrEqual(version);
      expect(kept).toBeLessThanOrEqual(sent[index] ?? 0);
    }
  }
  expect(created.size).toBeGreaterThan(KILLS);
  expect(Math.max(...renamed)).toBeGreaterThan(KILLS);
});

test('the lock of a crashed server is taken over after 10 seconds, unless it is dated ahead', async () => {
  const args = (file: string) => ['--port', '0', '--log', 'off', '--db', join(folder, file)];
  const crashed = await startCommand(args('crashed.json'));
  crashed.process.kill('SIGKILL');
  await crashed.exited;
  const lock = join(folder, 'ahead.json.lock');
  mkdirSync(lock);
  utimesSync(lock, 2e9, 2e9);
  const [next, refused] = await Promise.all([
    startCommand(args('crashed.json')),
    runCommand(args('ahead.json')),
  ]);
  expect(next.stderr()).toMatch(/^petstore-mock: waiting 10 seconds .*crashed\.json\.lock\n$/);
  expect(refused.code).toBe(1);
  expect(refused.stderr).toContain(`If none is running, delete ${lock}\n`);
});
