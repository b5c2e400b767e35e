// node --expose-gc bench/heap-growth.js ANIMALS
//
// Prints by how many MB the heap of a server grows with a thousand changes, all of them remembered.

import { Agent, request } from 'node:http';

const CHANGES = 1000;

const animals = Number(process.argv[2]);
/** @type {typeof import('../src/index.ts')} */
const { startServer } = await import(new URL('../dist/index.js', import.meta.url).href);
const server = await startServer({ port: 0, animals });
const agent = new Agent({ keepAlive: true, maxSockets: 4 });

/** @type {(index: number) => Promise<void>} */
async function change(index) {
  const path = `/v1/inventory/${1 + ((index * 37) % animals)}`;
  const headers = { Authorization: 'Bearer demo-key', 'Content-Type': 'application/json' };
  const sent = request({ agent, port: server.port, method: 'PATCH', path, headers });
  sent.end(JSON.stringify({ quantity: index }));
  await new Promise((resolve, reject) => {
    sent.on('error', reject).on('response', (reply) => reply.resume().on('end', resolve));
  });
}

async function heapMegabytes() {
  for (let round = 0; round < 5; round++) {
    globalThis.gc?.();
    await new Promise(setImmediate);
  }
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / 1e6;
}

await change(0);
const before = await heapMegabytes();
for (let index = 1; index <= CHANGES; index++) await change(index);
process.stdout.write(`${(await heapMegabytes()) - before}\n`);
agent.destroy();
await server.close();
