// The lanes of the work `stalls`: how long one client's request holds another's reads at a million
// records. All lanes share a server and run in this order, each once.

import { prepare, runLoad } from './load.js';
import { startServer } from './server.js';
import { firstPage, subjects } from './subjects.js';

const RECORDS = 1_000_000;
const MOST_WRITES = 300_000;
const WRITES_AT_ONCE = 30_000;
const READ_SECONDS = 0.3;
const SHIPPED = { status: 'shipped' };
const generated = () => ({ scenario: { generate: { animals: RECORDS, orders: 1 } } });

/** @type {[name: string, request: string, body?: () => object][]} `request` ends with the status */
const REQUESTS = [
  ['nothing', 'GET /v1/pets/1 200'],
  ['PUT state, 1 MiB', 'PUT /~a/__mock/state 200', () => store(27_000)],
  ['PUT state, ids shuffled', 'PUT /~a/__mock/state 200', () => store(27_000, 7919)],
  ['PUT state, wrong records', 'PUT /~a/__mock/state 400', () => store(22_000, 1, { petId: 0 })],
  ['PUT state, too large', 'PUT /~a/__mock/state 413', () => store(55_000)],
  ['PATCH state, 1 MiB', 'PATCH /~b/__mock/state 200', () => store(27_000)],
  ['PATCH state, ids descending', 'PATCH /~b/__mock/state 200', () => store(27_000, -1)],
  ['DELETE an animal', 'DELETE /__mock/animals/1 204'],
  ['DELETE another animal', 'DELETE /__mock/animals/2 204'],
  ['remove 50,000 animals', 'PATCH /~b/__mock/state 200', () => removal(50_000)],
  [
    'PUT scenario, remove animals',
    'PUT /~c/__mock/scenario 200',
    () => ({ scenario: { state: removal(1000) } }),
  ],
  [
    'PUT scenario large-store',
    'PUT /~c/__mock/scenario 200',
    () => ({ scenarios: ['large-store'] }),
  ],
  ['PUT scenario, generate', 'PUT /~d/__mock/scenario 200', generated],
  ['GET pets by status after it', 'GET /~d/v1/pets?status=sold&limit=10 200'],
  ['POST snapshots', 'POST /__mock/snapshots 201', () => ({ name: 'one' })],
  ['a write after the snapshot', 'PATCH /__mock/orders/1 200', () => SHIPPED],
  ['POST restore', 'POST /__mock/snapshots/one/restore 204'],
  ['GET state', 'GET /__mock/state 200'],
  ['GET orders, filtered', 'GET /__mock/orders?status=shipped&_limit=1 200'],
  ['GET animals, sorted', 'GET /__mock/animals?_sort=name&_limit=10 200'],
  ['GET pets by status', 'GET /v1/pets?status=sold&limit=10 200'],
  ['GET inventory', 'GET /v1/inventory 200'],
  ['GET orders of the service', 'GET /v1/store/orders 200'],
  ['GET requests', 'GET /__mock/requests 200'],
  ['GET coverage', 'GET /__mock/coverage 200'],
  ['GET findings', 'GET /__mock/findings 200'],
  ['GET sandboxes', 'GET /__mock/sandboxes 200'],
  ['DELETE sandbox', 'DELETE /__mock/sandboxes/a 204'],
  ['POST reset', 'POST /__mock/reset 204'],
  ['a write after 300,000 and a fork', 'PATCH /~many/__mock/orders/1 200', () => SHIPPED],
];

/** A store of so many orders, with the ids 0, step, 2 step, … below a prime. */
function store(/** @type {number} */ count, step = 1, more = {}) {
  const orders = Array.from({ length: count }, (_, index) => {
    const id = 10_000_000 + ((((index * step) % 1_000_003) + 1_000_003) % 1_000_003);
    return { ...more, id, status: 'shipped' };
  });
  return { orders };
}

const removal = (/** @type {number} */ count) => {
  return { animals: { remove: Array.from({ length: count }, (_, index) => index + 1) } };
};

/** @type {ReturnType<typeof start> | undefined} */
let shared;

/** @param {string} folder */
async function start(folder) {
  const setup = { flags: ['--animals', `${RECORDS}`, '--orders', `${RECORDS}`] };
  const server = await startServer((port) => subjects.ours.command(folder, setup, port), {
    cwd: folder,
    probe: firstPage(subjects.ours),
    preload: new URL('longest-turn.js', import.meta.url).href,
  });
  for (let first = 1; first <= MOST_WRITES; first += WRITES_AT_ONCE) {
    const set = Array.from({ length: WRITES_AT_ONCE }, (_, i) => ({ id: first + i, ...SHIPPED }));
    const url = `http://127.0.0.1:${server.port}/~many/__mock/state`;
    const body = JSON.stringify({ orders: { set } });
    // The reply is the whole store: leave it unread.
    await (await fetch(url, { method: 'PATCH', body })).body?.cancel();
  }
  await ask(server.port, 'POST /~many/__mock/snapshots 201', () => ({ name: 'fork' }));
  return server;
}

/** @type {(port: number, request: string, body?: () => object) => ReturnType<typeof runLoad>} */
function ask(port, request, body) {
  const [method = '', path = '', status] = request.split(' ');
  const call = { method, path, status: Number(status), ...(body && { body: body() }) };
  return runLoad({ port, requests: [prepare(call)], connections: 1, limit: 1 });
}

/** @type {import('./lanes.js').Lane[]} */
export const stallLanes = REQUESTS.map(([name, request, body], index) => ({
  name,
  open: async (folder) => {
    shared ??= start(folder);
    const server = await shared;
    const round = async () => {
      const read = {
        port: server.port,
        requests: [prepare(firstPage(subjects.ours))],
        connections: 1,
      };
      await runLoad({ ...read, limit: 100 });
      await server.ask();
      const startedAt = performance.now();
      let isAnswered = false;
      const asking = ask(server.port, request, body).finally(() => {
        isAnswered = true;
      });
      const isOver = () => isAnswered && performance.now() - startedAt > READ_SECONDS * 1000;
      const [{ max: ms }, { max }] = await Promise.all([asking, runLoad({ ...read, isOver })]);
      return { ms, besideMax: max, turn: await server.ask() };
    };
    return index === 0 ? { round, close: server.stop } : { round };
  },
}));
