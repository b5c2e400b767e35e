import { Agent, request } from 'node:http';
import { expect } from 'vitest';
import { startCommand } from './command.ts';
import { storeIn } from './kept-file.ts';

/** Clients that change the store at once. */
const CLIENTS = 16;

/** Creates an animal; returns the acknowledged id, or undefined if the server was killed first. */
export function createAnimal(url: string, agent: Agent): Promise<number | undefined> {
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

/** Long enough that a few hundred names fill a log, which is then folded while clients write. */
const PADDING = 'x'.repeat(20_000);

/** Renames an animal over the control API. Returns whether that was acknowledged before a kill. */
async function rename(url: string, id: number, version: number): Promise<boolean> {
  const target = `${new URL(url).origin}/__mock/animals/${id}`;
  const body = JSON.stringify({ name: `${version} ${PADDING}` });
  const headers = { 'Content-Type': 'application/json' };
  const reply = await fetch(target, { method: 'PATCH', headers, body }).catch(() => undefined);
  if (reply !== undefined) expect(reply.status).toBe(200);
  return (await reply?.arrayBuffer().catch(() => undefined)) !== undefined;
}

/** Kills a server with `--db FILE` this often while clients write, and looks for lost changes. */
export async function killUnderLoad(file: string, kills: number): Promise<void> {
  const created = new Set<number>();
  /** The latest version of the name of each animal, and of its latest acknowledged name. */
  const sent = new Array<number>(CLIENTS / 2).fill(0);
  const renamed = new Array<number>(CLIENTS / 2).fill(0);
  for (let kill = 0; kill < kills; kill += 1) {
    const server = await startCommand(['--port', '0', '--log', 'off', '--db', file]);
    const agent = new Agent({ keepAlive: true, maxSockets: CLIENTS });
    // A number of acknowledgements that differs from kill to kill lands anywhere in a write.
    const most = 1 + ((kill * 137) % 700);
    let count = 0;
    const acknowledge = (): void => {
      count += 1;
      if (count === most) server.process.kill('SIGKILL');
    };
    const create = async (): Promise<void> => {
      for (;;) {
        const id = await createAnimal(server.url, agent);
        if (id === undefined) return;
        created.add(id);
        acknowledge();
      }
    };
    const renaming = async (_: number, index: number): Promise<void> => {
      for (;;) {
        const version = (sent[index] ?? 0) + 1;
        sent[index] = version;
        if (!(await rename(server.url, index + 1, version))) return;
        renamed[index] = version;
        acknowledge();
      }
    };
    await Promise.all([...Array.from({ length: CLIENTS / 2 }, create), ...sent.map(renaming)]);
    await server.exited;
    agent.destroy();
    const { animals } = await storeIn(file);
    expect([...created].filter((id) => !animals.has(BigInt(id)))).toEqual([]);
    for (const [index, version] of renamed.entries()) {
      const kept = Number.parseInt(animals.get(BigInt(index + 1))?.name ?? '', 10) || 0;
      expect(kept).toBeGreaterThanOrEqual(version);
      expect(kept).toBeLessThanOrEqual(sent[index] ?? 0);
    }
  }
  expect(created.size).toBeGreaterThan(kills);
  expect(Math.max(...renamed)).toBeGreaterThan(kills);
}
