// Throughput, latency, CPU time and memory of every subject for one kind of work.

import { runRounds } from './rounds.js';
import { startServer } from './server-process.js';
import { prepareRequests } from './work.js';

const createsPerRound = 50_000;

/**
 * @typedef {object} WorkRow
 * @property {import('./subjects.js').Subject} subject
 * @property {import('./rounds.js').Round[]} rounds
 * @property {number} residentBefore bytes, after the first answer
 * @property {number} residentAfter bytes, after the last round
 */

/**
 * Fresh servers for each kind of work, so that none inherits what another left in memory.
 *
 * @param {string} work
 * @param {import('./subjects.js').Subject[]} subjects
 * @param {(subject: import('./subjects.js').Subject) => Promise<import('./subjects.js').Setup & { animals: number }>} prepare
 * @param {import('./rounds.js').Pace} pace
 * @returns {Promise<WorkRow[]>}
 */
export async function measureWork(work, subjects, prepare, pace) {
  const lanes = [];
  try {
    for (const subject of subjects) {
      const setup = await prepare(subject);
      const server = await startServer(subject, setup);
      const requests = prepareRequests(work, subject.dialect, setup.animals);
      lanes.push({ subject, server, requests, residentBefore: server.residentBytes() });
    }
    const rounds = await runRounds(lanes, { ...pace, ...boundsOf(work) });
    return lanes.map((lane) => ({
      subject: lane.subject,
      rounds: rounds.get(lane) ?? [],
      residentBefore: lane.residentBefore,
      residentAfter: lane.server.residentBytes(),
    }));
  } finally {
    for (const { server } of lanes) await server.stop();
  }
}

/**
 * What is created stays in memory: with the same number of records in each, memory compares.
 *
 * @param {string} work
 */
function boundsOf(work) {
  return work === 'create' ? { requestsPerRound: createsPerRound } : {};
}
