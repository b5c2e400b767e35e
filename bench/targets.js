// What this project must reach, each with the figure that decides it.

import { scenarioStarts } from './measure-simulation.js';
import {
  evidenceBeside,
  oursBeside,
  sizeRow,
  startIsLongerBy,
  startRow,
  typicalRatio,
  variantBeside,
  workRow,
} from './results.js';
import { median, medianDifference, medianRatio } from './statistics.js';

const megabyte = 1e6;

/**
 * @typedef {import('./results.js').Results} Results
 * @typedef {object} Target
 * @property {string} text
 * @property {'at least' | 'at most'} bound
 * @property {number} limit
 * @property {string} unit
 * @property {(results: Results) => number | undefined} measure
 */

/** @type {Target[]} */
export const targets = [
  ...['list', 'get'].flatMap((work) => readTargets(work)),
  ratioTarget('create: throughput, of the floor’s', 0.85, (r) =>
    oursBeside(r, 'create', 'perSecond', 'floor'),
  ),
  {
    text: 'start until the first 200 (default fixture), of the floor’s',
    ...{ bound: 'at most', limit: 2, unit: '×' },
    measure: (r) => startRatio(r, 'ours, default fixture'),
  },
  {
    text: 'start until the first 200 (1,000 generated animals), of the floor’s',
    ...{ bound: 'at most', limit: 2, unit: '×' },
    measure: (r) => startRatio(r, 'ours, 1,000 animals'),
  },
  {
    text: 'memory before load (default fixture)',
    ...{ bound: 'at most', limit: 60, unit: ' MB' },
    measure: (r) => inMegabytes(startRow(r, 'ours, default fixture')?.resident),
  },
  {
    text: 'memory before load (1,000 generated animals)',
    ...{ bound: 'at most', limit: 60, unit: ' MB' },
    measure: (r) => inMegabytes(workRow(r, 'list', 'ours')?.residentBefore),
  },
  ...['list', 'get', 'create'].map((work) => memoryTarget(work)),
  ...['list', 'get'].map((work) =>
    ratioTarget(`${work}: throughput at 1,000,000 animals, of that at 1,000`, 0.85, (r) =>
      typicalRatio(
        sizeRow(r, 'ours', 1_000_000)?.rounds[work],
        sizeRow(r, 'ours', 1000)?.rounds[work],
        'perSecond',
      ),
    ),
  ),
  {
    text: '1,000,000 animals: start until the first 200',
    ...{ bound: 'at most', limit: 1500, unit: ' ms' },
    measure: (r) => sizeRow(r, 'ours', 1_000_000)?.startMillis,
  },
  {
    text: '1,000,000 animals: memory when ready',
    ...{ bound: 'at most', limit: 400, unit: ' MB' },
    measure: (r) => inMegabytes(sizeRow(r, 'ours', 1_000_000)?.residentBefore),
  },
  {
    text: 'inventory of 1,000,000 entries: growth of memory while it streams (worst round)',
    ...{ bound: 'at most', limit: 50, unit: ' MB' },
    measure: (r) => inMegabytes(worstStream(r, 'growth')),
  },
  {
    text: 'inventory of 1,000,000 entries: slowest list beside it (worst round)',
    ...{ bound: 'at most', limit: 50, unit: ' ms' },
    measure: (r) => worstStream(r, 'besideMax'),
  },
  ...['list', 'get'].flatMap((work) => [
    ratioTarget(`${work}: throughput with 20 rules that do not match, of that without`, 0.9, (r) =>
      variantBeside(r, work, '20 rules that do not match', 'as it starts'),
    ),
    ratioTarget(`${work}: throughput with the journal, of that without`, 0.85, (r) =>
      variantBeside(r, work, 'as it starts', 'without a journal'),
    ),
    ratioTarget(`${work}: throughput in a sandbox, of that in the default one`, 0.9, (r) =>
      variantBeside(r, work, 'in a sandbox', 'as it starts'),
    ),
  ]),
  ...scenarioStarts.map((compared) => scenarioStartTarget(compared)),
  {
    text: '10,000 sandboxes with 5 changes each: more memory than one with as many requests',
    ...{ bound: 'at most', limit: 60, unit: ' MB' },
    measure: (r) =>
      inMegabytes(
        medianDifference(
          r.sandboxes.map(({ many }) => many),
          r.sandboxes.map(({ one }) => one),
        ),
      ),
  },
  {
    text: 'making a sandbox (CPU time of a request to a new one, less that of one to a known one)',
    ...{ bound: 'at most', limit: 0.2, unit: ' ms' },
    measure: (r) =>
      r.sandboxes.length ? median(r.sandboxes.map((round) => round.makingMillis)) : undefined,
  },
  ...['list', 'get'].map((work) =>
    ratioTarget(`${work}: throughput with coverage and findings, of that without`, 0.9, (r) =>
      evidenceBeside(r, work),
    ),
  ),
  {
    text: 'exec: longer than the command alone by',
    ...{ bound: 'at most', limit: 250, unit: ' ms' },
    measure: ({ evidence }) => medianDifference(evidence?.exec.under, evidence?.exec.alone),
  },
  {
    text: 'sweep with --jobs 2 over a command of 1 s, by 60 options',
    ...{ bound: 'at most', limit: 45, unit: ' s' },
    measure: ({ evidence }) => evidence && (evidence.sweep.seconds / evidence.sweep.options) * 60,
  },
  ...[1000, 100_000].flatMap((animals) => durableTargets(animals)),
];

/**
 * @param {{ scenario: string, plain: string }} compared
 * @returns {Target}
 */
function scenarioStartTarget(compared) {
  return {
    text: `start with ${compared.scenario}: longer by`,
    ...{ bound: 'at most', limit: 30, unit: ' ms' },
    measure: (r) => startIsLongerBy(r, compared),
  };
}

/**
 * @param {number} animals
 * @returns {Target[]}
 */
function durableTargets(animals) {
  const size = animals.toLocaleString('en');
  /** @param {Results} results @param {boolean} isOurs */
  const rounds = (results, isOurs) =>
    results.durable.find(
      (row) => row.animals === animals && (row.subject.id === 'json-server-0') !== isOurs,
    )?.rounds;
  return [
    ratioTarget(`--db, ${size} animals: changes, of json-server 0.17.4’s`, 5, (r) =>
      medianRatio(
        rounds(r, true)?.map((round) => round.perSecond),
        rounds(r, false)?.map((round) => round.perSecond),
      ),
    ),
    {
      text: `--db, ${size} animals: slowest read beside the changes (worst round)`,
      ...{ bound: 'at most', limit: 100, unit: ' ms' },
      measure: (r) => {
        const ours = rounds(r, true);
        return ours?.length ? Math.max(...ours.map((round) => round.besideMax)) : undefined;
      },
    },
  ];
}

/**
 * @param {Target} target
 * @param {number | undefined} figure
 */
export function verdict(target, figure) {
  if (figure === undefined || Number.isNaN(figure)) return 'not measured';
  const isMet = target.bound === 'at least' ? figure >= target.limit : figure <= target.limit;
  return isMet ? 'met' : 'missed';
}

/**
 * @param {string} work
 * @returns {Target[]}
 */
function readTargets(work) {
  return [
    ratioTarget(`${work}: throughput, of the floor’s`, 0.85, (r) =>
      oursBeside(r, work, 'perSecond', 'floor'),
    ),
    {
      text: `${work}: p99, of the floor’s`,
      ...{ bound: 'at most', limit: 1.5, unit: '×' },
      measure: (r) => oursBeside(r, work, 'p99', 'floor'),
    },
    ratioTarget(`${work}: throughput, of json-server 0.17.4’s`, 8, (r) =>
      oursBeside(r, work, 'perSecond', 'json-server-0'),
    ),
  ];
}

/**
 * @param {string} work
 * @returns {Target}
 */
function memoryTarget(work) {
  return {
    text: `${work}: memory after load, of the floor’s`,
    ...{ bound: 'at most', limit: 1.3, unit: '×' },
    measure: (r) => {
      const ours = workRow(r, work, 'ours');
      const floor = workRow(r, work, 'floor');
      return ours && floor ? ours.residentAfter / floor.residentAfter : undefined;
    },
  };
}

/**
 * @param {string} text
 * @param {number} limit
 * @param {(results: Results) => number | undefined} measure
 * @returns {Target}
 */
function ratioTarget(text, limit, measure) {
  return { text, bound: 'at least', limit, unit: '×', measure };
}

/**
 * @param {Results} results
 * @param {string} label
 */
function startRatio(results, label) {
  return medianRatio(startRow(results, label)?.millis, startRow(results, 'floor')?.millis);
}

/**
 * @param {Results} results
 * @param {'growth' | 'besideMax'} figure
 */
function worstStream(results, figure) {
  const rounds = results.inventory.find((row) => row.subject.id === 'ours')?.rounds;
  return rounds?.length ? Math.max(...rounds.map((round) => round[figure])) : undefined;
}

/** @param {number | undefined} bytes */
function inMegabytes(bytes) {
  return bytes === undefined ? undefined : bytes / megabyte;
}
