// From spawn to the first good answer, interleaved, and what is resident at that moment.

import { startServer } from './server-process.js';
import { median } from './statistics.js';

/** A start is short and noisy: more of them than rounds of load. */
const startsPerRound = 2;

/**
 * @typedef {{ subject: import('./subjects.js').Subject, label: string, setup: import('./subjects.js').Setup }} Start
 * @typedef {{ subject: import('./subjects.js').Subject, label: string, millis: number[], resident: number }} StartRow
 */

/**
 * @param {Start[]} starts
 * @param {number} rounds
 * @returns {Promise<StartRow[]>}
 */
export async function measureStart(starts, rounds) {
  const measured = starts.map((start) => ({
    ...start,
    millis: /** @type {number[]} */ ([]),
    residents: /** @type {number[]} */ ([]),
  }));
  // The first start of each fills the page cache, and is not counted.
  for (let round = -1; round < rounds * startsPerRound; round++) {
    for (const row of round % 2 === 0 ? measured : measured.toReversed()) {
      const server = await startServer(row.subject, row.setup);
      if (round >= 0) {
        row.millis.push(server.startMillis);
        row.residents.push(server.residentBytes());
      }
      await server.stop();
    }
  }
  return measured.map(({ subject, label, millis, residents }) => ({
    subject,
    label,
    millis,
    resident: median(residents),
  }));
}
