// Changes that are kept in a file before they are acknowledged, beside json-server, which keeps every
// change too; and how long another client waits meanwhile. That client asks without a pause, which
// takes more from a server that answers it sooner: the ratio of changes is rather too low. What is
// created stays, so that the quicker server also has the larger store in later rounds.

import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { runLoad } from './load.js';
import { startServer } from './server-process.js';
import { variant } from './subjects.js';
import { prepareRequests } from './work.js';

const durable = variant('petstore-mock --db', 'every change in the file', ({ folder }) => [
  '--db',
  join(folder, 'kept.json'),
]);

/**
 * @typedef {{ perSecond: number, besidePerSecond: number, besideMax: number }} DurableRound `besideMax`: the slowest read, in ms
 * @typedef {{ subject: import('./subjects.js').Subject, animals: number, rounds: DurableRound[] }} DurableRow
 */

/**
 * @param {import('./subjects.js').Subject} jsonServer
 * @param {number[]} sizes
 * @param {(subject: import('./subjects.js').Subject, animals: number) => Promise<import('./subjects.js').Setup & { animals: number }>} prepare
 * @param {import('./rounds.js').Pace} pace
 * @returns {Promise<DurableRow[]>}
 */
export async function measureDurable(jsonServer, sizes, prepare, pace) {
  /** @type {DurableRow[]} */
  const rows = [];
  for (const animals of sizes) {
    const lanes = [];
    try {
      for (const subject of [durable, jsonServer]) {
        const setup = await prepare(subject, animals);
        if (subject === durable) rmSync(join(setup.folder, 'kept.json'), { force: true });
        lanes.push({ subject, setup, server: await startServer(subject, setup), rounds: [] });
      }
      for (let round = -1; round < pace.rounds; round++) {
        for (const lane of round % 2 === 0 ? lanes : lanes.toReversed()) {
          const measured = await runRound(lane, animals, pace);
          if (round >= 0) /** @type {DurableRound[]} */ (lane.rounds).push(measured);
        }
      }
      rows.push(...lanes.map(({ subject, rounds }) => ({ subject, animals, rounds })));
    } finally {
      for (const { server } of lanes) await server.stop();
    }
  }
  return rows;
}

/**
 * @param {{ subject: import('./subjects.js').Subject, server: import('./server-process.js').ServerProcess }} lane
 * @param {number} animals
 * @param {import('./rounds.js').Pace} pace
 * @returns {Promise<DurableRound>}
 */
async function runRound({ subject, server }, animals, { connections, seconds }) {
  const bounds = { port: server.port, seconds, limit: Number.POSITIVE_INFINITY };
  const [writes, reads] = await Promise.all([
    runLoad({
      ...bounds,
      connections,
      requests: prepareRequests('create', subject.dialect, animals),
    }),
    runLoad({
      ...bounds,
      connections: 1,
      requests: prepareRequests('get', subject.dialect, animals),
    }),
  ]);
  return {
    perSecond: writes.perSecond,
    besidePerSecond: reads.perSecond,
    besideMax: reads.max,
  };
}
