// What can be measured. A lane is one row of a work: something to open, to measure round by round,
// and to close.

import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { prepare, runLoad } from './load.js';
import { record } from './record.js';
import { startServer } from './server.js';
import { floorCommand, subjects } from './subjects.js';

/**
 * @typedef {import('./statistics.js').Figures} Figures
 * @typedef {import('./subjects.js').Subject} Subject
 * @typedef {import('./subjects.js').Setup} Setup
 * @typedef {import('./load.js').Call} Call
 * @typedef {{ folder: string, seconds: number, connections: number }} Pace
 * @typedef {{ round: (seconds: number) => Promise<Figures>, close: () => Promise<void> }} OpenLane
 * @typedef {{ name: string, open: (pace: Pace) => Promise<OpenLane> }} Lane
 * @typedef {object} Load
 * @property {(subject: Subject) => Call[]} calls sent in turn
 * @property {Omit<Setup, 'folder'>} [setup]
 * @property {number} [limit] of requests in a round, so that memory compares where records are created
 * @property {number} [connections]
 * @property {{ calls: (subject: Subject) => Call[], perSecond?: number }} [beside] a second load, on one connection
 */

/**
 * Throughput, latency, CPU time and memory under a load.
 *
 * @param {Subject} subject
 * @param {Load} load
 * @param {string} [name]
 * @returns {Lane}
 */
export function loadLane(subject, load, name = subject.name) {
  return {
    name,
    open: async (pace) => {
      const server = await startSubject(subject, load.setup, pace.folder);
      return underLoad(server, subject, load, pace);
    },
  };
}

/**
 * A bare node:http server that sends what our server answered to the same load.
 *
 * @param {Load} load
 * @returns {Lane}
 */
export function floorLane(load) {
  return {
    name: 'floor',
    open: async (pace) => {
      const recording = await recordOurs(load, pace.folder);
      const options = { cwd: pace.folder, probe: firstPage(subjects.ours) };
      const server = await startServer(floorCommand(recording), options);
      return underLoad(server, subjects.ours, load, pace);
    },
  };
}

/**
 * Start until the first good reply, and the memory at that moment.
 *
 * @param {string} name
 * @param {Subject} subject
 * @param {Omit<Setup, 'folder'>} [setup]
 * @returns {Lane}
 */
export function startLane(name, subject, setup = {}) {
  return {
    name,
    open: async ({ folder }) => {
      await subject.prepare?.({ folder, ...setup });
      return startsOf((port) => subject.command({ folder, ...setup }, port), {
        cwd: folder,
        probe: firstPage(subject),
      });
    },
  };
}

/**
 * @param {string | undefined} node
 * @returns {Lane}
 */
export function floorStartLane(node) {
  return {
    name: 'floor',
    open: async ({ folder }) => {
      const probe = firstPage(subjects.ours);
      const recording = await recordOurs({ calls: () => [probe] }, folder);
      return startsOf(floorCommand(recording, node), { cwd: folder, probe });
    },
  };
}

/**
 * Memory and CPU time for calls that are sent once, to a new server in each round.
 *
 * @param {string} name
 * @param {{ calls: () => Call[], setup: Omit<Setup, 'folder'> }} load
 * @returns {Lane}
 */
export function onceLane(name, { calls, setup }) {
  return {
    name,
    open: async ({ folder }) => {
      const requests = calls().map(prepare);
      return {
        round: async () => {
          const server = await startSubject(subjects.ours, setup, folder);
          try {
            const before = server.cpuSeconds();
            await runLoad({ port: server.port, requests, connections: 8, limit: requests.length });
            const cpu = ((server.cpuSeconds() - before) / requests.length) * 1e6;
            return { memory: server.memory(), cpu };
          } finally {
            await server.stop();
          }
        },
        close: async () => {},
      };
    },
  };
}

/**
 * How long a command takes.
 *
 * @param {string} name
 * @param {string[]} command
 * @returns {Lane}
 */
export function commandLane(name, [program = '', ...args]) {
  return {
    name,
    open: async () => ({
      round: async () => {
        const started = performance.now();
        execFileSync(program, args, { stdio: 'ignore' });
        return { ms: performance.now() - started };
      },
      close: async () => {},
    }),
  };
}

/**
 * How long `npx` takes, with an empty cache, until the program prints that it is ready.
 *
 * @param {string} name
 * @param {{ args: (folder: string) => string[], ready: RegExp }} program
 * @returns {Lane}
 */
export function npxLane(name, { args, ready }) {
  return {
    name,
    open: async ({ folder }) => {
      const words = ['-y', ...args(folder)];
      return { round: () => timeNpx(folder, words, ready), close: async () => {} };
    },
  };
}

/**
 * @param {string} folder
 * @param {string[]} words
 * @param {RegExp} ready
 * @returns {Promise<Figures>}
 */
async function timeNpx(folder, words, ready) {
  const cwd = mkdtempSync(join(folder, 'npx-'));
  const started = performance.now();
  const child = spawn('npx', words, {
    cwd,
    env: { ...process.env, npm_config_cache: join(cwd, 'cache'), npm_config_audit: 'false' },
    detached: true, // a process group of its own, so that the server ends with npx
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const exited = once(child, 'exit');
  try {
    for await (const line of createInterface({ input: child.stdout })) {
      if (ready.test(line)) return { ms: performance.now() - started };
    }
    throw new Error(`npx ${words.join(' ')} ended before it was ready`);
  } finally {
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGKILL');
    await exited;
    rmSync(cwd, { recursive: true, force: true, maxRetries: 10 });
  }
}

/** @typedef {Awaited<ReturnType<typeof startServer>>} Server */

/**
 * @param {Subject} subject
 * @param {Omit<Setup, 'folder'> | undefined} setup
 * @param {string} folder
 */
async function startSubject(subject, setup, folder) {
  const own = mkdtempSync(join(folder, 'subject-'));
  await subject.prepare?.({ folder: own, ...setup });
  const command = (/** @type {number} */ port) => subject.command({ folder: own, ...setup }, port);
  return startServer(command, { cwd: own, probe: firstPage(subject) });
}

/**
 * @param {Server} server
 * @param {Subject} subject
 * @param {Load} load
 * @param {Pace} pace
 * @returns {OpenLane}
 */
function underLoad(server, subject, { calls, limit, beside, ...load }, pace) {
  const { port } = server;
  const ready = server.memory();
  const requests = calls(subject).map(prepare);
  const connections = load.connections ?? pace.connections;
  const besideRequests = beside?.calls(subject).map(prepare);
  return {
    round: async (seconds) => {
      const cpuBefore = server.cpuSeconds();
      let isOver = false;
      const [main, second] = await Promise.all([
        runLoad({ port, requests, connections, seconds, ...(limit && { limit }) }).finally(() => {
          isOver = true;
        }),
        besideRequests &&
          runLoad({
            port,
            requests: besideRequests,
            connections: 1,
            ...beside,
            isOver: () => isOver,
          }),
      ]);
      const cpu = server.cpuSeconds() - cpuBefore;
      return {
        perSecond: main.perSecond,
        p50: main.p50,
        p99: main.p99,
        max: main.max,
        cpu: (cpu / (main.requests + (second?.requests ?? 0))) * 1e6,
        core: (cpu / main.seconds) * 100,
        ...(second && { besidePerSecond: second.perSecond, besideMax: second.max }),
        ready,
        peak: server.peakMemory(),
      };
    },
    close: server.stop,
  };
}

/**
 * @param {(port: number) => string[]} command
 * @param {{ cwd: string, probe: Call }} options
 * @returns {OpenLane}
 */
function startsOf(command, options) {
  return {
    round: async () => {
      const server = await startServer(command, options);
      const figures = { ms: server.startMillis, memory: server.memory() };
      await server.stop();
      return figures;
    },
    close: async () => {},
  };
}

/**
 * @param {Load} load
 * @param {string} folder
 * @returns {Promise<string>} the file with the recording
 */
async function recordOurs({ calls, setup }, folder) {
  const server = await startSubject(subjects.ours, setup, folder);
  try {
    const wanted = [firstPage(subjects.ours), ...calls(subjects.ours)];
    const recording = join(mkdtempSync(join(folder, 'floor-')), 'recording.json');
    writeFileSync(recording, JSON.stringify(await record(server.port, wanted)));
    return recording;
  } finally {
    await server.stop();
  }
}

/**
 * @param {Subject} subject
 * @returns {Call}
 */
export function firstPage({ pets, page }) {
  return { method: 'GET', path: pets + page, status: 200 };
}
