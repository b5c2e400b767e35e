// What sandboxes cost: memory for many beside one, and the time that making one adds to a request.

import { runLoad } from './load.js';
import { startServer } from './server-process.js';
import { prepareRequest } from './work.js';

const count = 10_000;
const changesOfEach = 5;
const connections = 8;

/** @typedef {{ growth: number, makingMillis: number }} SandboxRound bytes beyond one sandbox; ms each */

/**
 * @param {import('./subjects.js').Subject} ours
 * @param {import('./subjects.js').Setup} setup
 * @returns {Promise<SandboxRound>}
 */
export async function measureSandboxes(ours, setup) {
  const one = await residentAfter(ours, setup, () => 'one');
  const many = await residentAfter(ours, setup, (index) => `s${index}`);
  return { growth: many - one, makingMillis: await makingMillis(ours, setup) };
}

/**
 * Resident memory after the same changes, in sandboxes of the given names.
 *
 * @param {import('./subjects.js').Subject} ours
 * @param {import('./subjects.js').Setup} setup
 * @param {(index: number) => string} nameOf
 */
async function residentAfter(ours, setup, nameOf) {
  const requests = Array.from({ length: count * changesOfEach }, (_, index) =>
    prepareRequest({
      method: 'PATCH',
      path: `/~${nameOf(Math.floor(index / changesOfEach))}/v1/inventory/${1 + (index % changesOfEach)}`,
      status: 200,
      body: { quantity: index % 100 },
    }),
  );
  const server = await startServer(ours, setup);
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
 * @param {import('./subjects.js').Subject} ours
 * @param {import('./subjects.js').Setup} setup
 */
async function makingMillis(ours, setup) {
  const server = await startServer(ours, setup);
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
  await runLoad({ port, requests, connections, seconds: 60, limit: requests.length });
}
