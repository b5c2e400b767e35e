// node bench/run.js [--only list,get,…] [--lanes floor,petstore-mock,…] [--rounds 5] [--seconds 1]
//
// Prints the results. A run of everything also writes them to RESULTS.md. Build the project first.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { report } from './report.js';
import { claimLoadCore } from './server.js';
import { works } from './works.js';

/**
 * @import { Figures } from './lanes.js'
 * @import { Work } from './works.js'
 */

const WARM_UP_SECONDS = 1;

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    lanes: { type: 'string' },
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '1' },
  },
});
const [rounds, seconds] = [Number(values.rounds), Number(values.seconds)];
if (!(rounds > 0 && seconds > 0)) throw new Error('Give positive numbers.');

const folder = mkdtempSync(join(tmpdir(), 'petstore-mock-bench-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }));
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(1));
const chosen = chosenWorks();
claimLoadCore();

const results = [];
for (const work of chosen) {
  process.stderr.write(`${work.name}\n`);
  results.push({ work, rounds: await measure(work) });
}
const command = ['node bench/run.js', ...process.argv.slice(2)].join(' ');
const text = report(results, { command, rounds, seconds });
process.stdout.write(text);
if (process.argv.length === 2) writeFileSync(new URL('RESULTS.md', import.meta.url), text);

/** The chosen works. Each keeps the lane that the others are compared with. */
function chosenWorks() {
  const [only, wanted] = [values.only?.split(','), values.lanes?.split(',')];
  const known = works.flatMap(({ name, lanes }) => [name, ...lanes.map((lane) => lane.name)]);
  const unknown = [...(only ?? []), ...(wanted ?? [])].filter((name) => !known.includes(name));
  if (unknown.length > 0) throw new Error(`Unknown: ${unknown}. Known are ${[...new Set(known)]}.`);
  return works
    .filter(({ name }) => only?.includes(name) ?? true)
    .map((work) => ({
      ...work,
      lanes: work.lanes.filter(
        ({ name }, index) => index === 0 || (wanted?.includes(name) ?? true),
      ),
    }))
    .filter(({ lanes }) => lanes.length > 1);
}

/**
 * Interleaved rounds: A B C, then C B A, so that a drift of the machine favours no lane. A work with
 * rounds of its own is not warmed up.
 *
 * @param {Work} work
 */
async function measure(work) {
  const lanes = [];
  try {
    for (const lane of work.lanes) {
      lanes.push({ open: await lane.open(folder), rounds: /** @type {Figures[]} */ ([]) });
    }
    if (!work.rounds) for (const { open } of lanes) await open.round(WARM_UP_SECONDS);
    for (let round = 0; round < (work.rounds ?? rounds); round++) {
      for (const lane of round % 2 === 0 ? lanes : lanes.toReversed()) {
        lane.rounds.push(await lane.open.round(seconds));
      }
    }
    return lanes.map((lane) => lane.rounds);
  } finally {
    for (const { open } of lanes) await open.close?.();
  }
}
