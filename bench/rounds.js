// Interleaved rounds: A B C, then C B A, so that a drift of the machine favours nobody.

import { runLoad } from './load.js';

/**
 * @typedef {import('./load.js').PreparedRequest} PreparedRequest
 * @typedef {{ perSecond: number, p50: number, p99: number, cpuMicros: number, cpuShare: number }} Round
 *   `cpuMicros`: the server's CPU time for one request; `cpuShare`: how busy its core was with it
 * @typedef {{ server: import('./server-process.js').ServerProcess, requests: PreparedRequest[] }} Lane
 * @typedef {object} Pace
 * @property {number} rounds
 * @property {number} seconds of each round
 * @property {number} warmUpSeconds
 * @property {number} connections
 * @property {number} [requestsPerRound] ends a round before its time
 */

/**
 * @template {Lane} L
 * @param {L[]} lanes
 * @param {Pace} pace
 * @returns {Promise<Map<L, Round[]>>}
 */
export async function runRounds(lanes, pace) {
  /** @type {Map<L, Round[]>} */
  const measured = new Map(lanes.map((lane) => [lane, []]));
  for (const lane of lanes) await runRound(lane, pace.warmUpSeconds, pace);
  for (let round = 0; round < pace.rounds; round++) {
    for (const lane of round % 2 === 0 ? lanes : lanes.toReversed()) {
      measured.get(lane)?.push(await runRound(lane, pace.seconds, pace));
    }
  }
  return measured;
}

/**
 * @param {Lane} lane
 * @param {number} seconds
 * @param {Pace} pace
 * @returns {Promise<Round>}
 */
async function runRound({ server, requests }, seconds, { connections, requestsPerRound }) {
  const cpuBefore = server.cpuSeconds();
  const load = await runLoad({
    port: server.port,
    requests,
    connections,
    seconds,
    limit: requestsPerRound ?? Number.POSITIVE_INFINITY,
  });
  const cpu = server.cpuSeconds() - cpuBefore;
  return {
    perSecond: load.perSecond,
    p50: load.p50,
    p99: load.p99,
    cpuMicros: (cpu / load.requests) * 1e6,
    cpuShare: cpu / load.seconds,
  };
}
