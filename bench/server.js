// A server under measurement: pinned to a core of its own, started, awaited until its first good
// reply, stopped. Needs Linux: taskset and /proc.

import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { availableParallelism, cpus, release, totalmem } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { prepare, runLoad } from './load.js';

/**
 * @import { ChildProcess } from 'node:child_process'
 * @import { Call, LoadOptions } from './load.js'
 * @typedef {Awaited<ReturnType<typeof startServer>>} Server
 */

const SERVER_CORE = '0';
/** Also where the deployment behind a proxy runs: its share is small, and the same for all. */
export const LOAD_CORE = '1';
const START_TIMEOUT_MS = 60_000;
const STOP_TIMEOUT_MS = 3_000;

/** Ended with this process. @type {Set<ChildProcess>} */
export const running = new Set();
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/** Pins this process, which generates the load. */
export function claimLoadCore() {
  if (process.platform !== 'linux')
    throw new Error('The benchmark needs Linux: taskset and /proc.');
  if (availableParallelism() < 2) throw new Error('The benchmark needs two cores.');
  execFileSync('taskset', ['-a', '-c', '-p', LOAD_CORE, `${process.pid}`], { stdio: 'ignore' });
}

export function describeMachine() {
  const model = cpus()[0]?.model ?? 'unknown CPU';
  const gigabytes = Math.round(totalmem() / 2 ** 30);
  return `${model}, ${cpus().length} cores, ${gigabytes} GB, Linux ${release()}`;
}

/**
 * @param {(port: number) => string[]} command
 * @param {{ cwd: string, probe: Call, core?: string }} options the server has started once it
 *   answers the probe
 */
export async function startServer(command, { cwd, probe, core = SERVER_CORE }) {
  const port = await freePort();
  const words = command(port);
  const tls = words.includes('--tls');
  const spawnedAt = performance.now();
  // taskset replaces itself with the command, so the child's pid is the server's.
  const child = spawn('taskset', ['-c', core, ...words], {
    cwd,
    env: { PATH: process.env.PATH, HOME: cwd },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  running.add(child);
  let complaint = '';
  child.stderr?.on('data', (chunk) => {
    complaint = `${complaint}${chunk}`.slice(-2_000);
  });
  try {
    await firstReply(child, { port, tls, requests: [prepare(probe)], connections: 1, limit: 1 });
  } catch (error) {
    await stop(child);
    throw new Error(`${words.join(' ')} did not start: ${error}\n${complaint}`);
  }
  const ms = performance.now() - spawnedAt;
  const pid = child.pid ?? 0;
  return {
    port,
    tls,
    start: { ms, startCpu: cpuSeconds(pid) * 1000, memory: megabytes(pid) },
    memory: () => megabytes(pid),
    cpuSeconds: () => cpuSeconds(pid),
    stop: () => stop(child),
  };
}

export async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  server.close();
  await once(server, 'close');
  return port;
}

/** @type {(child: ChildProcess, load: LoadOptions) => Promise<unknown>} */
async function firstReply(child, load) {
  const deadline = performance.now() + START_TIMEOUT_MS;
  for (;;) {
    try {
      return await runLoad(load);
    } catch (error) {
      if (child.exitCode !== null || performance.now() > deadline) throw error;
    }
    await sleep(1);
  }
}

/** @param {ChildProcess} child */
async function stop(child) {
  if (child.exitCode === null && child.signalCode === null) {
    const exited = once(child, 'exit');
    child.kill('SIGTERM');
    const timeout = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
    await exited;
    clearTimeout(timeout);
  }
  running.delete(child);
}

/** User and system time of all threads, exact to a nanosecond. */
function cpuSeconds(/** @type {number} */ pid) {
  const times = readdirSync(`/proc/${pid}/task`).map((thread) => {
    return Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]);
  });
  return times.reduce((sum, nanoseconds) => sum + nanoseconds, 0) / 1e9;
}

function megabytes(/** @type {number} */ pid) {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return (Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) * 1024) / 1e6;
}
