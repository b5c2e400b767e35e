// What can be measured. A lane is one row of a work: something to open, to measure round by round,
// and to close.

import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { prepare, runLoad } from './load.js';
import { LOAD_CORE, startServer } from './server.js';
import { firstPage, startSubject, subjects } from './subjects.js';

export const CONNECTIONS = 32;

/**
 * @import { Call, PreparedRequest } from './load.js'
 * @import { Setup, Subject } from './subjects.js'
 * @import { Server } from './server.js'
 * @typedef {Record<string, number>} Figures of one round
 * @typedef {{ round: (seconds: number) => Promise<Figures>, close?: () => Promise<void> }} OpenLane
 * @typedef {{ name: string, open: (folder: string) => Promise<OpenLane> }} Lane
 * @typedef {(subject: Subject) => Call[]} Calls sent in turn
 * @typedef {object} Load
 * @property {Calls} calls
 * @property {Setup} [setup]
 * @property {number} [limit] of requests in a round, so that memory compares where records are created
 * @property {boolean} [once] sends each call once, to a new server in each round
 * @property {number} [connections]
 * @property {{ calls: Calls, perSecond?: number }} [beside] a second load, on one connection
 */

/**
 * Throughput, latency, CPU time and memory under a load.
 *
 * @type {(subject: Subject, load: Load, name?: string) => Lane}
 */
export function loadLane(subject, load, name = subject.name) {
  return {
    name,
    open: async (folder) => {
      const calls = load.calls(subject);
      const start = () =>
        startSubject(subject, mkdtempSync(join(folder, 'subject-')), load.setup, calls);
      const main = { requests: calls.map(prepare), connections: load.connections ?? CONNECTIONS };
      const { calls: callsBeside, ...rate } = load.beside ?? {};
      const beside = callsBeside && { requests: callsBeside(subject).map(prepare), ...rate };
      if (load.once) {
        const limit = calls.length;
        const round = async () => {
          const server = await start();
          return underLoad(server, { ...main, limit }, beside).finally(server.stop);
        };
        return { round };
      }
      const server = await start();
      const { limit = Infinity } = load;
      return {
        round: (seconds) => underLoad(server, { ...main, seconds, limit }, beside),
        close: server.stop,
      };
    },
  };
}

/**
 * The same in front of a deployment: the floor, with recorded replies, on the core of the load.
 *
 * @type {(subject: Subject, load: Load) => Lane}
 */
export function behindLane(subject, load) {
  return {
    name: subject.name,
    open: async (folder) => {
      const deployment = await startSubject(
        subjects.floor,
        mkdtempSync(join(folder, 'deployment-')),
        load.setup,
        load.calls(subject),
        LOAD_CORE,
      );
      const setup = { ...load.setup, upstream: `http://127.0.0.1:${deployment.port}/v1` };
      const { round, close } = await loadLane(subject, { ...load, setup }).open(folder);
      return {
        round,
        close: async () => {
          await close?.();
          await deployment.stop();
        },
      };
    },
  };
}

/**
 * @param {Server} server
 * @param {{ requests: PreparedRequest[], connections: number, seconds?: number, limit: number }} load
 * @param {{ requests: PreparedRequest[], perSecond?: number }} [beside]
 * @returns {Promise<Figures>}
 */
async function underLoad(server, load, beside) {
  const { port, tls } = server;
  let cpuBefore = 0;
  const onConnected = () => {
    cpuBefore = server.cpuSeconds();
  };
  let ended = false;
  const isOver = () => ended;
  const [main, second] = await Promise.all([
    runLoad({ port, tls, ...load, onConnected }).finally(() => {
      ended = true;
    }),
    beside && runLoad({ port, tls, connections: 1, ...beside, isOver }),
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
    ready: server.start.memory,
    memory: server.memory(),
  };
}

/**
 * Start until the first good reply: wall time, CPU time, and the memory at that moment.
 *
 * @type {(subject: Subject, setup?: Setup, name?: string) => Lane}
 */
export function startLane(subject, setup = {}, name = subject.name) {
  return {
    name,
    open: async (folder) => {
      const cwd = mkdtempSync(join(folder, 'subject-'));
      const options = { cwd, probe: firstPage(subject) };
      await subject.prepare?.(cwd, setup, []);
      const round = async () => {
        const server = await startServer((port) => subject.command(cwd, setup, port), options);
        await server.stop();
        return server.start;
      };
      return { round };
    },
  };
}

/**
 * How long a command takes to its end, or until it prints what is waited for. npm gets an empty cache.
 *
 * @type {(name: string, command: string[] | ((folder: string) => string[]), ready?: RegExp) => Lane}
 */
export function commandLane(name, command, ready) {
  return {
    name,
    open: async (folder) => {
      const words = typeof command === 'function' ? command(folder) : command;
      const round = async () => {
        const cwd = mkdtempSync(join(folder, 'command-'));
        const child = spawn(words[0] ?? '', words.slice(1), {
          cwd,
          env: { ...process.env, npm_config_cache: join(cwd, 'cache'), npm_config_audit: 'false' },
          detached: true, // a process group of its own, so that a server ends with npx
          stdio: ['ignore', 'pipe', 'ignore'],
        });
        const started = performance.now();
        const exited = once(child, 'exit');
        for await (const line of createInterface({ input: child.stdout })) {
          if (ready?.test(line)) break;
        }
        const ms = performance.now() - started;
        if (ready && child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
        const [code] = await exited;
        rmSync(cwd, { recursive: true, force: true, maxRetries: 10 });
        if (code !== (ready ? null : 0)) throw new Error(`${words.join(' ')} ended with ${code}`);
        return { ms };
      };
      return { round };
    },
  };
}

/**
 * By how much the heap of our server grows with a thousand changes.
 *
 * @type {(animals: number) => Lane}
 */
export function heapGrowthLane(animals) {
  const script = fileURLToPath(new URL('heap-growth.js', import.meta.url));
  const round = async () => {
    const args = ['--expose-gc', script, `${animals}`];
    const { stdout } = await promisify(execFile)(process.execPath, args);
    return { grown: Number(stdout) };
  };
  return { name: `${animals.toLocaleString('en')} animals`, open: async () => ({ round }) };
}
