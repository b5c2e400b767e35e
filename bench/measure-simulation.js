// What the simulation costs reads: our server in several circumstances, beside itself.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { measureWork } from './measure-work.js';
import { variant } from './subjects.js';

/** Rules that look at every call and match none. */
const rules = Array.from({ length: 20 }, (_, index) => ({
  on: '*',
  where: index % 2 ? { headers: { 'X-Never': String(index) } } : { petId: -index - 1, limit: 99 },
  reply: { status: 503 },
}));

export const simulationVariants = [
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
        simulationVariants,
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

/** @param {string} folder */
function scenarioIn(folder) {
  return join(folder, 'rules.json');
}
