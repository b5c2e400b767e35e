// Everything that a run has measured, and the questions that tables and targets ask of it. A
// question about something that was not measured is answered `undefined`.

import { withEvidence, withoutEvidence } from './measure-evidence.js';
import { median, medianDifference, medianRatio } from './statistics.js';

/**
 * @typedef {object} Results
 * @property {Map<string, import('./measure-work.js').WorkRow[]>} work by kind of work
 * @property {import('./measure-start.js').StartRow[]} starts
 * @property {import('./measure-sizes.js').SizeRow[]} sizes
 * @property {import('./measure-inventory.js').InventoryRow[]} inventory
 * @property {Map<string, import('./measure-work.js').WorkRow[]>} simulation by kind of work
 * @property {import('./measure-start.js').StartRow[]} scenarioStarts
 * @property {import('./measure-evidence.js').Evidence | undefined} evidence
 * @property {import('./measure-durable.js').DurableRow[]} durable
 * @property {import('./measure-sandboxes.js').SandboxRound[]} sandboxes
 * @typedef {import('./rounds.js').Round} Round
 * @typedef {'perSecond' | 'p50' | 'p99' | 'cpuMicros' | 'cpuShare'} Figure
 */

/** @returns {Results} */
export function noResults() {
  return {
    work: new Map(),
    starts: [],
    sizes: [],
    inventory: [],
    simulation: new Map(),
    scenarioStarts: [],
    evidence: undefined,
    durable: [],
    sandboxes: [],
  };
}

/**
 * @param {Round[] | undefined} rounds
 * @param {Figure} figure
 */
export function typical(rounds, figure) {
  return rounds?.length ? median(rounds.map((round) => round[figure])) : undefined;
}

/**
 * @param {Round[] | undefined} rounds
 * @param {Round[] | undefined} base
 * @param {Figure} figure
 */
export function typicalRatio(rounds, base, figure) {
  return medianRatio(
    rounds?.map((round) => round[figure]),
    base?.map((round) => round[figure]),
  );
}

/**
 * @param {Results} results
 * @param {string} work
 * @param {string} subject
 */
export function workRow(results, work, subject) {
  return results.work.get(work)?.find((row) => row.subject.id === subject);
}

/**
 * @param {Results} results
 * @param {string} work
 * @param {Figure} figure
 * @param {string} base the subject to compare this project with
 */
export function oursBeside(results, work, figure, base) {
  return typicalRatio(
    workRow(results, work, 'ours')?.rounds,
    workRow(results, work, base)?.rounds,
    figure,
  );
}

/**
 * @param {Results} results
 * @param {string} subject
 * @param {number} animals
 */
export function sizeRow(results, subject, animals) {
  return results.sizes.find(
    (row) => row.subject.id === subject && row.animals === animals && !row.failure,
  );
}

/**
 * @param {Results} results
 * @param {string} label
 */
export function startRow(results, label) {
  return results.starts.find((row) => row.label === label);
}

/**
 * How our server reads in one circumstance, of how it reads in another.
 *
 * @param {Results} results
 * @param {string} work
 * @param {string} variant
 * @param {string} base
 */
export function variantBeside(results, work, variant, base) {
  const rows = results.simulation.get(work);
  /** @param {string} id */
  const rounds = (id) => rows?.find((row) => row.subject.id === id)?.rounds;
  return typicalRatio(rounds(variant), rounds(base), 'perSecond');
}

/**
 * How our server reads with coverage and findings, of how it reads without.
 *
 * @param {Results} results
 * @param {string} work
 */
export function evidenceBeside({ evidence }, work) {
  const rows = evidence?.reads.get(work);
  /** @param {string} id */
  const rounds = (id) => rows?.find((row) => row.subject.id === id)?.rounds;
  return typicalRatio(rounds(withEvidence), rounds(withoutEvidence), 'perSecond');
}

/**
 * How much longer a start with scenarios takes than one without them.
 *
 * @param {Results} results
 * @param {{ scenario: string, plain: string }} compared
 */
export function startIsLongerBy({ scenarioStarts }, compared) {
  /** @param {string} label */
  const millis = (label) => scenarioStarts.find((row) => row.label === label)?.millis;
  return medianDifference(millis(compared.scenario), millis(compared.plain));
}
