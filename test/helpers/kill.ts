import { Agent, request } from 'node:http';
import { expect } from 'vitest';
import { startCommand } from './command.ts';
import { storeIn } from './kept-store.ts';

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

/** The animals in a file and its log. */
async function idsIn(file: string): Promise<ReadonlySet<number>> {
  const store = await storeIn(file);
  return new Set([...store.animals.ascending()].map(({ id }) => Number(id)));
}

/** Kills a server with `--db FILE` this often while clients write, and looks for lost changes. */
export async function killUnderLoad(file: string, kills: number): Promise<void> {
  const acknowledged = new Set<number>();
  for (let kill = 0; kill < kills; kill += 1) {
    const server = await startCommand(['--port', '0', '--log', 'off', '--db', file]);
    const agent = new Agent({ keepAlive: true, maxSockets: CLIENTS });
    // A number of acknowledgements that differs from kill to kill lands anywhere in a write.
    const most = 1 + ((kill * 37) % 90);
    let count = 0;
    const client = async (): Promise<void> => {
      for (;;) {
        const id = await createAnimal(server.url, agent);
        if (id === undefined) return;
        acknowledged.add(id);
        count += 1;
        if (count === most) server.process.kill('SIGKILL');
      }
    };
    await Promise.all(Array.from({ length: CLIENTS }, client));
    await server.exited;
    agent.destroy();
    const kept = await idsIn(file);
    const lost = [...acknowledged].filter((id) => !kept.has(id));
    expect(lost).toEqual([]);
  }
  expect(acknowledged.size).toBeGreaterThan(kills);
}
