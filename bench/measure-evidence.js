// What evidence about a client costs: coverage and findings to reads, `exec` and `sweep` to a command.

import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildWithout } from '../scripts/build-without.mjs';
import { measureWork } from './measure-work.js';
import { ourCommand, variant } from './subjects.js';

const project = fileURLToPath(new URL('..', import.meta.url));
/** Within the package, whose fixtures it is to find. */
const built = join(project, 'dist/bench');
const execRounds = 11;

/**
 * @typedef {object} Evidence
 * @property {Map<string, import('./measure-work.js').WorkRow[]>} reads by kind of work
 * @property {{ alone: number[], under: number[] }} exec milliseconds that a command takes
 * @property {{ options: number, seconds: number }} sweep over a command that takes a second
 */

export const withEvidence = 'as it starts';
export const withoutEvidence = 'without coverage and findings';

/**
 * @param {(subject: import('./subjects.js').Subject) => Promise<import('./subjects.js').Setup & { animals: number }>} prepare
 * @param {import('./rounds.js').Pace} pace
 * @returns {Promise<Evidence>}
 */
export async function measureEvidence(prepare, pace) {
  const variants = [
    { ...variant(withEvidence, '', () => []), command: await commandOf('with.js', []) },
    {
      ...variant(withoutEvidence, '', () => []),
      command: await commandOf('without.js', ['coverage', 'findings']),
    },
  ];
  /** @type {Evidence['reads']} */
  const reads = new Map();
  for (const work of ['list', 'get']) {
    reads.set(work, await measureWork(work, variants, prepare, pace));
  }
  return { reads, exec: measureExec(), sweep: measureSweep() };
}

/**
 * Builds the command with some modules of the simulation left out.
 *
 * @param {string} file
 * @param {string[]} leftOut
 * @returns {Promise<import('./subjects.js').Subject['command']>}
 */
async function commandOf(file, leftOut) {
  const outfile = join(built, file);
  const stub = fileURLToPath(new URL('without-evidence.js', import.meta.url));
  await buildWithout({ outfile, leftOut, stub });
  const { command } = variant('', '', () => []);
  return (setup) => command(setup).map((word) => (word === ourCommand ? outfile : word));
}

/** In turn, so that both are measured on the same machine. */
function measureExec() {
  /** @type {Evidence['exec']} */
  const exec = { alone: [], under: [] };
  const command = [process.execPath, '-e', '0'];
  for (let round = -1; round < execRounds; round++) {
    const alone = millisOf(command);
    const under = millisOf([process.execPath, ourCommand, 'exec', '--', ...command]);
    if (round < 0) continue;
    exec.alone.push(alone);
    exec.under.push(under);
  }
  return exec;
}

function measureSweep() {
  const args = [ourCommand, 'sweep', '--all', '--jobs', '2', '--json', '--', 'sleep', '1'];
  const started = performance.now();
  const output = execFileSync(process.execPath, args, {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const seconds = (performance.now() - started) / 1000;
  return { options: JSON.parse(output).runs.length, seconds };
}

/** @param {string[]} command */
function millisOf([program = '', ...args]) {
  const started = performance.now();
  execFileSync(program, args, { stdio: 'ignore' });
  return performance.now() - started;
}
