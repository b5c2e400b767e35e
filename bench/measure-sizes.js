// What a larger store costs: start, memory and reads at each size.

import { runRounds } from './rounds.js';
import { startServer } from './server-process.js';
import { median } from './statistics.js';
import { prepareRequests } from './work.js';

const startsPerSize = 3;
const reads = ['list', 'get'];

/**
 * @typedef {import('./subjects.js').Subject} Subject
 * @typedef {object} SizeRow
 * @property {Subject} subject
 * @property {number} animals
 * @property {string} [failure] why there is no figure
 * @property {number} startMillis
 * @property {number} residentBefore
 * @property {number} residentAfter
 * @property {Record<string, import('./rounds.js').Round[]>} rounds by kind of read
 */

/**
 * @param {Subject} subject
 * @param {number[]} sizes
 * @param {(subject: Subject, animals: number) => Promise<import('./subjects.js').Setup>} prepare
 * @param {import('./rounds.js').Pace} pace
 * @returns {Promise<SizeRow[]>}
 */
export async function measureSizes(subject, sizes, prepare, pace) {
  /** @type {(SizeRow & { server: import('./server-process.js').ServerProcess })[]} */
  const lanes = [];
  /** @type {SizeRow[]} */
  const failed = [];
  try {
    for (const animals of sizes) {
      try {
        lanes.push(await startAt(subject, animals, await prepare(subject, animals)));
      } catch (error) {
        const failure = error instanceof Error ? error.message : String(error);
        failed.push({ ...emptyRow(subject, animals), failure });
      }
    }
    for (const work of reads) await measureRead(work, lanes, pace);
    const rows = lanes.map(({ server, ...row }) => ({
      ...row,
      residentAfter: server.residentBytes(),
    }));
    return [...rows, ...failed];
  } finally {
    for (const { server } of lanes) await server.stop();
  }
}

/**
 * Starts it a few times, and leaves the last one running.
 *
 * @param {Subject} subject
 * @param {number} animals
 * @param {import('./subjects.js').Setup} setup
 */
async function startAt(subject, animals, setup) {
  const millis = [];
  for (let start = 1; start < startsPerSize; start++) {
    const server = await startServer(subject, setup);
    millis.push(server.startMillis);
    await server.stop();
  }
  const server = await startServer(subject, setup);
  millis.push(server.startMillis);
  return {
    ...emptyRow(subject, animals),
    server,
    startMillis: median(millis),
    residentBefore: server.residentBytes(),
  };
}

/**
 * @param {string} work
 * @param {(SizeRow & { server: import('./server-process.js').ServerProcess })[]} rows
 * @param {import('./rounds.js').Pace} pace
 */
async function measureRead(work, rows, pace) {
  const lanes = rows.map((row) => ({
    row,
    server: row.server,
    requests: prepareRequests(work, row.subject.dialect, row.animals),
  }));
  for (const [lane, rounds] of await runRounds(lanes, pace)) lane.row.rounds[work] = rounds;
}

/**
 * @param {Subject} subject
 * @param {number} animals
 * @returns {SizeRow}
 */
function emptyRow(subject, animals) {
  const none = Number.NaN;
  return {
    subject,
    animals,
    startMillis: none,
    residentBefore: none,
    residentAfter: none,
    rounds: {},
  };
}
