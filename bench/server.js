// A server under measurement: pinned to a core of its own, started, awaited until its first good
// reply, stopped. Needs Linux: taskset and /proc.

import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { availableParallelism, cpus, release, totalmem } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { prepare, runLoad } from './load.js';

const SERVER_CORE = '0';
const LOAD_CORE = '1';
const START_TIMEOUT_MS = 60_000;
const STOP_TIMEOUT_MS = 3_000;

/** @type {Set<import('node:child_process').ChildProcess>} */
const running = new Set();
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
 * @param {{ cwd: string, probe: import('./load.js').Call }} options
 *   the server has started once it answers the probe
 */
export async function startServer(command, { cwd, probe }) {
  const port = await freePort();
  const spawnedAt = performance.now();
  // taskset replaces itself with the command, so the child's pid is the server's.
  const child = spawn('taskset', ['-c', SERVER_CORE, ...command(port)], {
    cwd,
    env: { PATH: process.env.PATH, HOME: cwd },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  running.add(child);
  let complaint = '';
  child.stderr.on('data', (chunk) => {
    complaint = `${complaint}${chunk}`.slice(-2_000);
  });
  try {
    await firstReply(child, port, prepare(probe));
  } catch (error) {
    await stop(child);
    throw new Error(`${command(port).join(' ')} did not start: ${error}\n${complaint}`);
  }
  const startMillis = performance.now() - spawnedAt;
  const pid = child.pid ?? 0;
  return {
    port,
    startMillis,
    memory: () => megabytes(pid, 'VmRSS'),
    peakMemory: () => megabytes(pid, 'VmHWM'),
    cpuSeconds: () => cpuSeconds(pid),
    stop: () => stop(child),
  };
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  server.close();
  await once(server, 'close');
  return port;
}

/**
 * @param {import('node:child_process').ChildProcess} child
 * @param {number} port
 * @param {import('./load.js').PreparedRequest} request
 */
async function firstReply(child, port, request) {
  const deadline = performance.now() + START_TIMEOUT_MS;
  /** @type {unknown} */
  let failure = 'no reply';
  while (performance.now() < deadline) {
    if (child.exitCode !== null) throw new Error(`it exited with ${child.exitCode}`);
    try {
      await runLoad({ port, requests: [request], connections: 1, limit: 1 });
      return;
    } catch (error) {
      failure = error;
    }
    await sleep(1);
  }
  throw new Error(`${failure} after ${START_TIMEOUT_MS} ms`);
}

/** @param {import('node:child_process').ChildProcess} child */
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

/**
 * User and system time of all threads.
 *
 * @param {number} pid
 */
function cpuSeconds(pid) {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The second field is the command in parentheses and may contain spaces.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100; // USER_HZ is 100 on Linux
}

/**
 * @param {number} pid
 * @param {'VmRSS' | 'VmHWM'} field
 */
function megabytes(pid, field) {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const kilobytes = new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(status)?.[1];
  return (Number(kilobytes) * 1024) / 1e6;
}
