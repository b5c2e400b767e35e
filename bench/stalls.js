// node bench/stalls.js [--records 1000000] [--reads 1000]
//
// How long one client's request holds another's read. For each request of the table: how long it
// took, the worst read beside it, and the longest turn of the server: the processor time that its
// main thread used without a look at other requests, which a busy machine does not lengthen.
// Build the project first. Needs Linux: /proc.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: {
    records: { type: 'string', default: '1000000' },
    reads: { type: 'string', default: '1000' },
  },
});
const records = Number(values.records);
const leastReads = Number(values.reads);
const ourCommand = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url));
const MIB = 1024 ** 2;
const BATCH = 15_000;

/** @type {[name: string, method: string, path: string, body?: (() => string) | undefined][]} */
const REQUESTS = [
  ['nothing', 'GET', '/v1/pets/1'],
  ['PUT state, 1 MiB', 'PUT', '/~a/__mock/state', () => store(MIB)],
  ['PUT state, ids shuffled', 'PUT', '/~a/__mock/state', () => store(MIB, 7919)],
  ['PUT state, wrong records', 'PUT', '/~a/__mock/state', () => store(MIB, 1, '"petId":0,')],
  ['PUT state, too large', 'PUT', '/~a/__mock/state', () => store(2 * MIB)],
  ['PATCH state, 1 MiB', 'PATCH', '/~b/__mock/state', () => store(MIB)],
  ['PATCH state, ids descending', 'PATCH', '/~b/__mock/state', () => store(MIB, -1)],
  ['DELETE an animal', 'DELETE', '/__mock/animals/1'],
  ['DELETE another animal', 'DELETE', '/__mock/animals/2'],
  ['PATCH state, remove 50,000 animals', 'PATCH', '/~b/__mock/state', () => removal(50_000)],
  ['PUT scenario, remove animals', 'PUT', '/~c/__mock/scenario', () => scenario(1000)],
  ['PUT scenario large-store', 'PUT', '/~c/__mock/scenario', () => '{"scenarios":["large-store"]}'],
  ['PUT scenario, generate', 'PUT', '/~d/__mock/scenario', () => generated()],
  ['GET pets by status after it', 'GET', '/~d/v1/pets?status=sold&limit=10'],
  ['POST snapshots', 'POST', '/__mock/snapshots', () => '{"name":"one"}'],
  ['a write after the snapshot', 'PATCH', '/__mock/orders/1', () => '{"status":"shipped"}'],
  ['POST restore', 'POST', '/__mock/snapshots/one/restore'],
  ['GET state', 'GET', '/__mock/state'],
  ['GET orders, filtered', 'GET', '/__mock/orders?status=shipped&_limit=1'],
  ['GET animals, sorted', 'GET', '/__mock/animals?_sort=name&_limit=10'],
  ['GET pets by status', 'GET', '/v1/pets?status=sold&limit=10'],
  ['GET inventory', 'GET', '/v1/inventory'],
  ['GET orders of the service', 'GET', '/v1/store/orders'],
  ['GET requests', 'GET', '/__mock/requests'],
  ['GET coverage', 'GET', '/__mock/coverage'],
  ['GET findings', 'GET', '/__mock/findings'],
  ['GET sandboxes', 'GET', '/__mock/sandboxes'],
  ['DELETE sandbox', 'DELETE', '/__mock/sandboxes/a'],
  ['POST reset', 'POST', '/__mock/reset'],
  ['a write after 300,000 writes and a fork', 'PATCH', '/~many/__mock/orders/1', shipped],
];

function shipped() {
  return '{"status":"shipped"}';
}

/** A store of about so many bytes; orders have the ids 0, step, 2 step, … below a prime. */
function store(/** @type {number} */ bytes, step = 1, extra = '') {
  const orders = [];
  const count = Math.floor(bytes / (38 + extra.length));
  for (let index = 0; index < count; index += 1) {
    const id = 10_000_000 + ((((index * step) % 1_000_003) + 1_000_003) % 1_000_003);
    orders.push(`{${extra}"id":${id},"status":"shipped"}`);
  }
  return `{"orders":[${orders.join()}]}`;
}

function removal(/** @type {number} */ count) {
  const remove = Array.from({ length: count }, (_, index) => index + 1);
  return JSON.stringify({ animals: { remove } });
}

function generated() {
  return `{"scenario":{"generate":{"animals":${records},"orders":1}}}`;
}

function scenario(/** @type {number} */ count) {
  return `{"scenario":{"state":${removal(count)}}}`;
}

const child = spawn(
  process.execPath,
  [
    ...['--import', new URL('longest-turn.js', import.meta.url).href, ourCommand],
    ...['--port', '0', '--log', 'off', '--seed', '1'],
    ...['--animals', `${records}`, '--orders', `${records}`],
  ],
  { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] },
);
process.on('exit', () => child.kill('SIGKILL'));
const [ready] = await once(createInterface({ input: child.stdout }), 'line');
const port = Number(/:(\d+)\/v1$/.exec(ready)?.[1]);
const readers = new Agent({ keepAlive: true });

for (let first = 1; first <= Math.min(records, 300_000); first += BATCH) {
  const set = Array.from({ length: BATCH }, (_, index) => ({
    id: first + index,
    status: 'shipped',
  }));
  await call('PATCH', '/~many/__mock/state', JSON.stringify({ orders: { set } }), 64 * 1024);
}
await call('POST', '/~many/__mock/snapshots', '{"name":"fork"}');
process.stdout.write(
  '| request | status | took, ms | worst read, ms | longest turn, ms of CPU |\n',
);
process.stdout.write('| --- | ---: | ---: | ---: | ---: |\n');
for (const [name, method, path, body] of REQUESTS) {
  const text = body?.();
  for (let warm = 0; warm < 100; warm += 1) await call('GET', '/v1/pets?limit=1');
  await longestTurn();
  const startedAt = performance.now();
  let took = 0;
  const asking = call(method, path, text).then((status) => {
    took = performance.now() - startedAt;
    return status;
  });
  let worst = 0;
  for (let reads = 0; reads < leastReads || took === 0; reads += 1) {
    const readAt = performance.now();
    await call('GET', '/v1/pets?limit=1', undefined, Number.POSITIVE_INFINITY, readers);
    worst = Math.max(worst, performance.now() - readAt);
  }
  const cells = [name, await asking, ...[took, worst, await longestTurn()].map(Math.round)];
  process.stdout.write(`| ${cells.join(' | ')} |\n`);
}
process.exit(0);

/** @returns {Promise<number>} since the last call */
async function longestTurn() {
  child.send('longest');
  const [longest] = await once(child, 'message');
  return longest;
}

/**
 * Sends a request and reads its reply, at most so many bytes of it.
 *
 * @param {string} method
 * @param {string} path
 * @param {string} [body]
 * @param {number} [most]
 * @param {Agent | false} [agent]
 * @returns {Promise<number>} its status
 */
function call(method, path, body, most = Number.POSITIVE_INFINITY, agent = false) {
  const headers = { Authorization: 'Bearer demo-key', 'Content-Type': 'application/json' };
  return new Promise((resolve, reject) => {
    const options = { port, method, path, headers, agent };
    const sent = request(options, (response) => {
      let length = 0;
      const status = response.statusCode ?? 0;
      response.on('data', (chunk) => {
        length += chunk.length;
        if (length <= most) return;
        resolve(status);
        response.destroy();
      });
      response.on('end', () => resolve(status)).on('error', reject);
    });
    sent.on('error', reject).end(body);
  });
}
