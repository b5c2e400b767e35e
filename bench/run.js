// node bench/run.js [--only list,get,…] [--lanes floor,petstore-mock,…]
//                   [--rounds 5] [--seconds 1] [--connections 32]
//
// Prints the results. A run of everything also writes them to RESULTS.md. Build the project first.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { report } from './report.js';
import { claimLoadCore, describeMachine } from './server.js';
import { works } from './works.js';

const WARM_UP_SECONDS = 1;

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: works.map(({ name }) => name).join() },
    lanes: { type: 'string' },
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '1' },
    connections: { type: 'string', default: '32' },
  },
});
const [rounds, seconds, connections] = [values.rounds, values.seconds, values.connections].map(
  Number,
);
if (!(rounds && seconds && connections)) throw new Error('Give positive numbers.');

const folder = mkdtempSync(join(tmpdir(), 'petstore-mock-bench-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(1));
claimLoadCore();

const results = [];
for (const work of chosenWorks()) {
  process.stderr.write(`${work.name}\n`);
  results.push({ work, rounds: await measure(work) });
}
const command = ['node bench/run.js', ...process.argv.slice(2)].join(' ');
const text = report(results, { command, machine: describeMachine(), rounds, seconds, connections });
process.stdout.write(text);
if (process.argv.length === 2) writeFileSync(new URL('RESULTS.md', import.meta.url), text);

function chosenWorks() {
  const names = values.only.split(',');
  const unknown = names.filter((name) => !works.some((work) => work.name === name));
  if (unknown.length > 0) {
    throw new Error(`No work is called ${unknown}. There are ${works.map(({ name }) => name)}.`);
  }
  const lanes = values.lanes?.split(',');
  return works
    .filter(({ name }) => names.includes(name))
    .map((work) => ({
      ...work,
      lanes: work.lanes.filter(({ name }) => !lanes || lanes.includes(name)),
    }));
}

/**
 * Interleaved rounds: A B C, then C B A, so that a drift of the machine favours no lane.
 *
 * @param {import('./works.js').Work} work
 */
async function measure(work) {
  const lanes = [];
  try {
    for (const lane of work.lanes) {
      const open = await lane.open({ folder, seconds, connections });
      lanes.push({ open, rounds: /** @type {import('./statistics.js').Figures[]} */ ([]) });
    }
    for (const { open } of lanes) await open.round(WARM_UP_SECONDS);
    for (let round = 0; round < (work.rounds ?? rounds); round++) {
      for (const lane of round % 2 === 0 ? lanes : lanes.toReversed()) {
        lane.rounds.push(await lane.open.round(seconds));
      }
    }
    return lanes.map((lane) => lane.rounds);
  } finally {
    for (const { open } of lanes) await open.close();
  }
}
