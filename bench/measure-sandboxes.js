// What sandboxes cost: memory for many beside one, and the time that making one adds to a request.

import { join } from 'node:path';
import { runLoad } from './load.js';
import { startServer } from './server-process.js';
import { writeStoreFile } from './store-data.js';
import { variant } from './subjects.js';
import { prepareRequest } from './work.js';

const count = 10_000;
const changesOfEach = 5;
const connections = 8;
const patienceSeconds = 60;

/** The store of every sandbox: a fixture, of which each shares what it does not change. */
const subject = variant('sandboxes', 'a fixture', ({ folder }) => ['--fixture', fixtureIn(folder)]);

/**
 * @typedef {{ one: number, many: number, makingMillis: number }} SandboxRound
 *   resident bytes after the same changes in one sandbox and in many; CPU time for making one
 */

/**
 * @param {(subject: import('./subjects.js').Subject) => Promise<import('./subjects.js').Setup & { animals: number }>} prepare
 * @param {number} rounds
 * @returns {Promise<SandboxRound[]>}
 */
export async function measureSandboxes(prepare, rounds) {
  const { animals, ...prepared } = await prepare(subject);
  await writeStoreFile(fixtureIn(prepared.folder), { animals, orders: prepared.orders });
  const setup = { ...prepared, animals: undefined };
  const names = { one: () => 'one', many: (/** @type {number} */ index) => `s${index}` };
  const measured = [];
  for (let round = 0; round < rounds; round++) {
    const resident = { one: 0, many: 0 };
    for (const which of /** @type {const} */ (round % 2 ? ['many', 'one'] : ['one', 'many'])) {
      resident[which] = await residentAfter(setup, names[which]);
    }
    measured.push({ ...resident, makingMillis: await makingMillis(setup) });
  }
  return measured;
}

/**
 * Resident memory after the same changes, in sandboxes of the given names.
 *
 * @param {import('./subjects.js').Setup} setup
 * @param {(index: number) => string} nameOf
 */
async function residentAfter(setup, nameOf) {
  const requests = Array.from({ length: count * changesOfEach }, (_, index) =>
    prepareRequest({
      method: 'PATCH',
      path: `/~${nameOf(Math.floor(index / changesOfEach))}/v1/inventory/${1 + (index % changesOfEach)}`,
      status: 200,
      body: { quantity: index % 100 },
    }),
  );
  const server = await startServer(subject, setup);
  try {
    await send(server.port, requests);
    return server.residentBytes();
  } finally {
    await server.stop();
  }
}

/**
 * CPU time of a request to a new sandbox, less that of one to a known one.
 *
 * @param {import('./subjects.js').Setup} setup
 */
async function makingMillis(setup) {
  const server = await startServer(subject, setup);
  /** @param {(index: number) => string} nameOf */
  const cpuOf = async (nameOf) => {
    const requests = Array.from({ length: count - 10 }, (_, index) =>
      prepareRequest({ method: 'GET', path: `/~${nameOf(index)}/v1/pets/1`, status: 200 }),
    );
    const before = server.cpuSeconds();
    await send(server.port, requests);
    return ((server.cpuSeconds() - before) / requests.length) * 1000;
  };
  try {
    await cpuOf(() => 'warm-up');
    const known = await cpuOf(() => 'known');
    return (await cpuOf((index) => `new-${index}`)) - known;
  } finally {
    await server.stop();
  }
}

/**
 * @param {number} port
 * @param {import('./load.js').PreparedRequest[]} requests each is sent once
 */
async function send(port, requests) {
  const limit = requests.length;
  const load = await runLoad({ port, requests, connections, seconds: patienceSeconds, limit });
  if (load.requests < limit)
    throw new Error(`${load.requests} of ${limit} requests in ${patienceSeconds} s`);
}

/** @param {string} folder */
function fixtureIn(folder) {
  return join(folder, 'fixture.json');
}
