// What the simulation costs reads and the start: our server in several circumstances, beside itself.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { measureStart } from './measure-start.js';
import { measureWork } from './measure-work.js';
import { variant } from './subjects.js';

/** Rules that look at every call and match none: each at one thing, so that each must look. */
const rules = Array.from({ length: 20 }, (_, index) => ({
  on: '*',
  where: [{ limit: 21 + index }, { petId: -1 - index }, { headers: { 'X-Never': 'x' } }][index % 3],
  reply: { status: 503 },
}));

const variants = [
  variant('as it starts', 'journal on, default sandbox, no scenario', () => []),
  variant('without a journal', '--journal 0', () => ['--journal', '0']),
  variant('20 rules that do not match', '--scenario', ({ folder }) => [
    '--scenario',
    scenarioIn(folder),
  ]),
  variant('in a sandbox', '/~bench/v1', () => [], '/~bench/v1'),
];

/**
 * @param {(subject: import('./subjects.js').Subject) => Promise<import('./subjects.js').Setup & { animals: number }>} prepare
 * @param {import('./rounds.js').Pace} pace
 */
export async function measureSimulation(prepare, pace) {
  /** @type {Map<string, import('./measure-work.js').WorkRow[]>} */
  const rows = new Map();
  for (const work of ['list', 'get']) {
    rows.set(
      work,
      await measureWork(
        work,
        variants,
        async (subject) => {
          const setup = await prepare(subject);
          writeFileSync(scenarioIn(setup.folder), JSON.stringify({ rules }));
          return setup;
        },
        pace,
      ),
    );
  }
  return rows;
}

/**
 * `slow` holds back every reply of the service, also the first one. With it, and without it beside
 * that, the start ends with the first answer of the health check.
 */
const starts = [
  variant('plain', '', () => []),
  variant('shipped-orders', '', () => ['--scenario', 'shipped-orders']),
  untilHealthy(variant('plain, until healthy', '', () => [])),
  untilHealthy(
    variant('shipped-orders and slow, until healthy', '', () => [
      ...['--scenario', 'shipped-orders', '--scenario', 'slow'],
    ]),
  ),
];

/** What is to be compared: a start with scenarios, and the one without them. */
export const scenarioStarts = [
  { scenario: 'shipped-orders', plain: 'plain' },
  { scenario: 'shipped-orders and slow, until healthy', plain: 'plain, until healthy' },
];

/**
 * With the fixture that a start takes when nobody names one.
 *
 * @param {string} folder
 * @param {number} rounds
 */
export function measureScenarioStarts(folder, rounds) {
  const setup = { folder, animals: undefined, orders: 0 };
  return measureStart(
    starts.map((subject) => ({ subject, label: subject.id, setup })),
    rounds,
  );
}

/**
 * @param {import('./subjects.js').Subject} subject
 * @returns {import('./subjects.js').Subject}
 */
function untilHealthy(subject) {
  const list = () => ({ method: 'GET', path: '/__mock/health', status: 200 });
  return { ...subject, dialect: { ...subject.dialect, list } };
}

/** @param {string} folder */
function scenarioIn(folder) {
  return join(folder, 'rules.json');
}
