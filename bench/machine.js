// What the benchmark needs of the machine: a core for the server, another for the load, and what
// the kernel counts about a process. Linux only, and it says so.

import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, release, totalmem } from 'node:os';

const serverCore = '0';
const loadCore = '1';

/** Clock ticks in a second, the unit of the CPU times in /proc. */
let ticksPerSecond = 100;

/** How the kernel writes that a socket listens. */
const listening = '0A';

/** Puts this process, which makes the load, on its own core. */
export function claimLoadCore() {
  if (process.platform !== 'linux')
    throw new Error('The benchmark needs Linux: taskset and /proc.');
  if (availableParallelism() < 2) throw new Error('The benchmark needs two cores.');
  ticksPerSecond = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));
  execFileSync('taskset', ['-a', '-c', '-p', loadCore, String(process.pid)], { stdio: 'ignore' });
}

/**
 * `taskset` replaces itself with the command, so the child's pid is the server's.
 *
 * @param {string[]} command
 * @returns {string[]}
 */
export function onServerCore(command) {
  return ['taskset', '-c', serverCore, ...command];
}

/** @param {number} pid */
export function residentBytes(pid) {
  return statusBytes(pid, 'VmRSS');
}

/** The most that was resident since `forgetPeak`. @param {number} pid */
export function peakResidentBytes(pid) {
  return statusBytes(pid, 'VmHWM');
}

/** @param {number} pid */
export function forgetPeak(pid) {
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
}

/**
 * User and system time of all threads.
 *
 * @param {number} pid
 */
export function cpuSeconds(pid) {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The second field is the command in parentheses, and may hold spaces: count from its end.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
}

/**
 * Whether it is this process that listens on a port, and not another that took it first.
 *
 * @param {number} pid
 * @param {number} port
 */
export function listensOn(pid, port) {
  const ending = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const listeners = ['tcp', 'tcp6']
    .flatMap((table) => readFileSync(`/proc/${pid}/net/${table}`, 'utf8').split('\n'))
    .map((line) => line.trim().split(/\s+/))
    .filter(([, address, , state]) => state === listening && address?.endsWith(ending))
    .map((fields) => `socket:[${fields[9]}]`);
  return descriptorsOf(pid).some((descriptor) => listeners.includes(descriptor));
}

/** @param {number} pid */
function descriptorsOf(pid) {
  const folder = `/proc/${pid}/fd`;
  return readdirSync(folder).map((name) => {
    try {
      return readlinkSync(`${folder}/${name}`);
    } catch {
      return 'closed meanwhile';
    }
  });
}

export function describeMachine() {
  const model = cpus()[0]?.model ?? 'unknown CPU';
  const gigabytes = Math.round(totalmem() / 2 ** 30);
  return `${model}, ${cpus().length} cores, ${gigabytes} GB, Linux ${release()}`;
}

/**
 * @param {number} pid
 * @param {string} field
 */
function statusBytes(pid, field) {
  const line = readFileSync(`/proc/${pid}/status`, 'utf8').match(
    new RegExp(`^${field}:\\s+(\\d+) kB`, 'm'),
  );
  if (!line) throw new Error(`/proc/${pid}/status has no ${field}`);
  return Number(line[1]) * 1024;
}
