// node bench/run.js [--only reads,writes,mix,start,sizes,inventory,simulation,evidence,durable] [--subjects floor,ours,…]
//                   [--rounds 5] [--seconds 1] [--connections 32]
// A run of everything also writes RESULTS.md. Build the project first.

import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { claimLoadCore, describeMachine } from './machine.js';
import { measureDurable } from './measure-durable.js';
import { measureEvidence } from './measure-evidence.js';
import { measureInventory } from './measure-inventory.js';
import { measureSandboxes } from './measure-sandboxes.js';
import { measureScenarioStarts, measureSimulation } from './measure-simulation.js';
import { measureSizes } from './measure-sizes.js';
import { measureStart } from './measure-start.js';
import { measureWork } from './measure-work.js';
import { report } from './report.js';
import { noResults } from './results.js';
import { subjects } from './subjects.js';

const parts = [
  ...['reads', 'writes', 'mix', 'start', 'sizes', 'inventory'],
  ...['simulation', 'evidence', 'durable'],
];
const worksOfPart = { reads: ['list', 'get'], writes: ['create'], mix: ['mix'] };
const sizes = [1000, 100_000, 1_000_000];
const durableSizes = [1000, 100_000];
const orders = 100;
const scratch = mkdtempSync(join(tmpdir(), 'petstore-mock-bench-'));

process.on('exit', () => rmSync(scratch, { recursive: true, force: true }));
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(1));
await main();

async function main() {
  const { values } = parseArgs({
    options: {
      only: { type: 'string', default: parts.join() },
      subjects: { type: 'string', default: subjects.map(({ id }) => id).join() },
      rounds: { type: 'string', default: '5' },
      seconds: { type: 'string', default: '1' },
      connections: { type: 'string', default: '32' },
    },
  });
  const chosenParts = choose('--only', values.only, parts);
  const chosenIds = choose(
    '--subjects',
    values.subjects,
    subjects.map(({ id }) => id),
  );
  const pace = {
    rounds: positive('--rounds', values.rounds),
    seconds: positive('--seconds', values.seconds),
    connections: positive('--connections', values.connections),
    warmUpSeconds: 1,
  };
  claimLoadCore();
  const chosen = subjects.filter(({ id }) => chosenIds.includes(id));
  const results = await measure(chosenParts, chosen, pace);
  const text = report(results, chosen, nodeVersionsOf(chosen), {
    command: ['node bench/run.js', ...process.argv.slice(2)].join(' '),
    date: new Date().toISOString().slice(0, 10),
    machine: describeMachine(),
    pace,
  });
  process.stdout.write(text);
  // A partial run would leave a file with holes where figures were.
  const isComplete = chosenParts.length === parts.length && chosen.length === subjects.length;
  if (isComplete) writeFileSync(new URL('RESULTS.md', import.meta.url), text);
}

/**
 * @param {string[]} chosenParts
 * @param {import('./subjects.js').Subject[]} chosen
 * @param {import('./rounds.js').Pace} pace
 */
async function measure(chosenParts, chosen, pace) {
  const results = noResults();
  const ours = chosen.find(({ id }) => id === 'ours');
  for (const [part, works] of Object.entries(worksOfPart)) {
    if (!chosenParts.includes(part)) continue;
    for (const work of works) {
      announce(`work: ${work}`);
      results.work.set(
        work,
        await measureWork(work, chosen, (subject) => prepare(subject, 1000), pace),
      );
    }
  }
  if (chosenParts.includes('start')) {
    announce('start');
    results.starts = await measureStart(await startsOf(chosen), pace.rounds);
  }
  if (chosenParts.includes('sizes')) {
    for (const subject of chosen.filter(({ holdsStore }) => holdsStore)) {
      announce(`sizes: ${subject.name}`);
      results.sizes.push(...(await measureSizes(subject, sizes, prepare, pace)));
    }
  }
  if (chosenParts.includes('inventory') && ours) {
    announce('inventory');
    results.inventory.push(
      await measureInventory(ours, await prepare(ours, 1_000_000), pace.rounds),
    );
  }
  if (chosenParts.includes('simulation') && ours) {
    announce('simulation');
    results.simulation = await measureSimulation((subject) => prepare(subject, 1000), pace);
    announce('start with scenarios');
    const { folder } = await prepare(ours, 1000);
    results.scenarioStarts = await measureScenarioStarts(folder, pace.rounds);
    announce('sandboxes');
    results.sandboxes = await measureSandboxes((subject) => prepare(subject, 1000), pace.rounds);
  }
  if (chosenParts.includes('evidence') && ours) {
    announce('evidence');
    results.evidence = await measureEvidence((subject) => prepare(subject, 1000), pace);
  }
  const jsonServer = chosen.find(({ id }) => id === 'json-server-0');
  if (chosenParts.includes('durable') && jsonServer) {
    announce('durable');
    results.durable = await measureDurable(jsonServer, durableSizes, prepare, pace);
  }
  return results;
}

/**
 * A folder of its own for each, because some rewrite the files that they are given.
 *
 * @param {import('./subjects.js').Subject} subject
 * @param {number} animals
 */
async function prepare(subject, animals) {
  const setup = {
    folder: join(scratch, `${subject.id}-${animals}`.replaceAll(/[^\w-]/g, '_')),
    animals,
    orders,
  };
  mkdirSync(setup.folder, { recursive: true });
  await subject.prepare(setup);
  return setup;
}

/** @param {import('./subjects.js').Subject[]} chosen */
async function startsOf(chosen) {
  /** @type {import('./measure-start.js').Start[]} */
  const starts = [];
  for (const subject of chosen) {
    const setup = await prepare(subject, 1000);
    if (subject.id === 'ours') {
      starts.push({
        subject,
        label: 'ours, default fixture',
        setup: { ...setup, animals: undefined },
      });
      starts.push({ subject, label: 'ours, 1,000 animals', setup });
    } else {
      starts.push({ subject, label: subject.id, setup });
    }
  }
  return starts;
}

/** @param {import('./subjects.js').Subject[]} chosen */
function nodeVersionsOf(chosen) {
  const executables = new Set(chosen.map(({ node }) => node));
  return new Map(
    [...executables].map((node) => [
      node,
      execFileSync(node, ['--version'], { encoding: 'utf8' }).trim(),
    ]),
  );
}

/**
 * @param {string} flag
 * @param {string} value
 * @param {string[]} known
 */
function choose(flag, value, known) {
  const chosen = value.split(',');
  const unknown = chosen.find((name) => !known.includes(name));
  if (unknown !== undefined)
    throw new Error(`${flag} ${unknown}: expected some of ${known.join(', ')}`);
  return chosen;
}

/**
 * @param {string} flag
 * @param {string} value
 */
function positive(flag, value) {
  const number = Number(value);
  if (!(number > 0)) throw new Error(`${flag} ${value}: expected a number above 0`);
  return number;
}

/** Progress goes to standard error, so that standard output is the report alone. @param {string} step */
function announce(step) {
  process.stderr.write(`${step}\n`);
}
