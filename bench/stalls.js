// The lanes of the work `stalls`: how long one client's request holds up another's reads, with 100,000
// records of each kind. All lanes share a server and run in this order, each once.

import { prepare, runLoad } from './load.js';
import { startServer } from './server.js';
import { firstPage, subjects } from './subjects.js';

const RECORDS = 100_000;
const READ_SECONDS = 0.3;

/** @type {[name: string, request: string, body?: object][]} `request` ends with the status */
const REQUESTS = [
  ['nothing', 'GET /v1/pets/1 200'],
  ['PATCH state, 1,000 orders', 'PATCH /__mock/state 200', { orders: { set: shipped(1_000) } }],
  ['GET animals, filtered', 'GET /__mock/animals?name=nobody 200'],
  ['GET animals, sorted', 'GET /__mock/animals?_sort=name&_limit=10 200'],
  ['GET pets by status', 'GET /v1/pets?status=sold&limit=10 200'],
  ['GET inventory', 'GET /v1/inventory 200'],
  ['GET state', 'GET /__mock/state 200'],
  ['DELETE an animal', 'DELETE /__mock/animals/2 204'],
  ['PUT scenario', 'PUT /~c/__mock/scenario 200', { scenarios: ['shipped-orders'] }],
  ['POST snapshots', 'POST /__mock/snapshots 201', { name: 'one' }],
  ['POST restore', 'POST /__mock/snapshots/one/restore 204'],
  ['GET requests', 'GET /__mock/requests 200'],
  ['POST reset', 'POST /__mock/reset 204'],
];

function shipped(/** @type {number} */ count) {
  return Array.from({ length: count }, (_, index) => ({ id: index + 1, status: 'shipped' }));
}

/** @type {ReturnType<typeof startServer> | undefined} */
let shared;

/** @param {string} folder */
function start(folder) {
  const setup = { flags: ['--animals', `${RECORDS}`, '--orders', `${RECORDS}`] };
  return startServer((port) => subjects.ours.command(folder, setup, port), {
    cwd: folder,
    probe: firstPage(subjects.ours),
  });
}

/** @type {import('./lanes.js').Lane[]} */
export const stallLanes = REQUESTS.map(([name, request, body], index) => ({
  name,
  open: async (folder) => {
    shared ??= start(folder);
    const server = await shared;
    const [method = '', path = '', status] = request.split(' ');
    const call = prepare({ method, path, status: Number(status), ...(body && { body }) });
    const connection = { port: server.port, connections: 1 };
    const reads = { ...connection, requests: [prepare(firstPage(subjects.ours))] };
    const round = async () => {
      await runLoad({ ...reads, limit: 100 });
      const startedAt = performance.now();
      let isAnswered = false;
      const asking = runLoad({ ...connection, requests: [call], limit: 1 }).finally(() => {
        isAnswered = true;
      });
      const isOver = () => isAnswered && performance.now() - startedAt > READ_SECONDS * 1000;
      const [{ max: ms }, { max }] = await Promise.all([asking, runLoad({ ...reads, isOver })]);
      return { ms, besideMax: max };
    };
    return index === 0 ? { round, close: server.stop } : { round };
  },
}));
