// Servers that share their sandboxes through a Redis, which runs on the core of the load.

import { spawn } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { createOne, drawn } from './calls.js';
import { CONNECTIONS, loadLane } from './lanes.js';
import { prepare, runLoad } from './load.js';
import { freePort, LOAD_CORE, running } from './server.js';
import { startSubject, subjects } from './subjects.js';

/**
 * @import { Lane, Load } from './lanes.js'
 * @import { Server } from './server.js'
 */

const { ours } = subjects;

/** @param {string} folder where it keeps its data: it syncs every second, as Redis recommends */
async function startRedis(folder) {
  const port = await freePort();
  const flags = ['--port', `${port}`, '--dir', mkdtempSync(join(folder, 'redis-'))];
  const words = ['-c', LOAD_CORE, 'redis-server', ...flags, '--save', '', '--appendonly', 'yes'];
  const child = spawn('taskset', words, { stdio: ['ignore', 'pipe', 'inherit'] });
  running.add(child);
  const url = `redis://127.0.0.1:${port}/0`;
  for await (const line of createInterface({ input: child.stdout })) {
    if (!line.includes('Ready to accept connections')) continue;
    child.stdout.resume();
    return { url, stop: () => child.kill('SIGKILL') };
  }
  throw new Error('redis-server did not start. The benchmark needs Redis 6.2 or later.');
}

/**
 * One server of a fleet under a load.
 *
 * @type {(load: Load, name: string) => Lane}
 */
export function sharedLane(load, name) {
  return {
    name,
    open: async (folder) => {
      const redis = await startRedis(folder);
      const setup = { ...load.setup, flags: ['--shared', redis.url] };
      const { round, close } = await loadLane(ours, { ...load, setup }).open(folder);
      return {
        round,
        close: async () => {
          await close?.();
          redis.stop();
        },
      };
    },
  };
}

/**
 * Servers that create animals in one sandbox: as many as they can, then half as many, whose latency
 * counts.
 *
 * @type {(count: number, name: string) => Lane}
 */
export function contendedLane(count, name) {
  return {
    name,
    open: async (folder) => {
      const redis = await startRedis(folder);
      const setup = { animals: 1000, flags: ['--shared', redis.url] };
      /** @type {Server[]} */
      const servers = [];
      for (let index = 0; index < count; index++) {
        servers.push(await startSubject(ours, mkdtempSync(join(folder, 'subject-')), setup));
      }
      const round = async (/** @type {number} */ seconds) => {
        const before = await countAnimals(servers.at(-1));
        const full = await create(servers, seconds);
        const half = await create(servers, seconds, full.perSecond / 2);
        const kept = (await countAnimals(servers[0])) - before;
        return { ...half, perSecond: full.perSecond, lost: full.requests + half.requests - kept };
      };
      return {
        round,
        close: async () => {
          await Promise.all(servers.map((server) => server.stop()));
          redis.stop();
        },
      };
    },
  };
}

/** @type {(servers: Server[], seconds: number, perSecond?: number) => Promise<{ requests: number, perSecond: number, p99: number, max: number }>} */
async function create(servers, seconds, perSecond) {
  const requests = drawn(createOne)(ours).map(prepare);
  const connections = Math.floor(CONNECTIONS / servers.length);
  const rate = perSecond === undefined ? {} : { perSecond: perSecond / servers.length };
  const loads = await Promise.all(
    servers.map(({ port }) => runLoad({ port, requests, connections, seconds, ...rate })),
  );
  return {
    requests: loads.reduce((sum, load) => sum + load.requests, 0),
    perSecond: loads.reduce((sum, load) => sum + load.perSecond, 0),
    p99: Math.max(...loads.map((load) => load.p99)),
    max: Math.max(...loads.map((load) => load.max)),
  };
}

/** @param {Server} [server] */
async function countAnimals(server) {
  const reply = await fetch(`http://127.0.0.1:${server?.port}/__mock/animals?_page=1&_limit=1`);
  return Number(reply.headers.get('X-Total-Count'));
}
