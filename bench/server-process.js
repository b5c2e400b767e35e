// One server under measurement: started on its core, awaited until its first good answer, stopped
// by its pid.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { cpuSeconds, listensOn, onServerCore, residentBytes } from './machine.js';
import { replyReader } from './reply-reader.js';
import { prepareRequest } from './work.js';

const startTimeoutMillis = 60_000;
const retryMillis = 1;
const stopPatienceMillis = 3_000;

/** @type {Set<import('node:child_process').ChildProcess>} */
const running = new Set();
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/**
 * @typedef {object} ServerProcess
 * @property {number} port
 * @property {number} startMillis from spawn to the first good answer
 * @property {() => number} residentBytes
 * @property {() => number} cpuSeconds
 * @property {number} pid
 * @property {() => Promise<void>} stop
 */

/**
 * @param {import('./subjects.js').Subject} subject
 * @param {import('./subjects.js').Setup} setup
 * @returns {Promise<ServerProcess>}
 */
export async function startServer(subject, setup) {
  const port = await freePort();
  const [command = '', ...args] = onServerCore(subject.command({ ...setup, port }));
  const spawnedAt = performance.now();
  const child = spawn(command, args, {
    cwd: setup.folder,
    // A clean environment, so that nothing of the caller's changes one subject and not another.
    env: { PATH: process.env.PATH, HOME: setup.folder },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  running.add(child);
  const complaints = lastWords(child);
  const pid = child.pid ?? 0;
  let startMillis = 0;
  try {
    await firstAnswer(child, port, prepareRequest(subject.dialect.list()));
    startMillis = performance.now() - spawnedAt;
    // The port was free when it was chosen; since then, any process could have taken it.
    if (!listensOn(pid, port)) throw new Error(`another process answers on port ${port}`);
  } catch (error) {
    await stop(child);
    throw new Error(`${subject.name} did not start: ${error}\n${complaints()}`);
  }
  return {
    port,
    pid,
    startMillis,
    residentBytes: () => residentBytes(pid),
    cpuSeconds: () => cpuSeconds(pid),
    stop: () => stop(child),
  };
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = /** @type {import('node:net').AddressInfo} */ (server.address());
  server.close();
  await once(server, 'close');
  return address.port;
}

/**
 * @param {import('node:child_process').ChildProcess} child
 * @returns {() => string}
 */
function lastWords(child) {
  let text = '';
  child.stderr?.on('data', (chunk) => {
    text = (text + chunk).slice(-2_000);
  });
  return () => text;
}

/**
 * @param {import('node:child_process').ChildProcess} child
 * @param {number} port
 * @param {import('./load.js').PreparedRequest} request
 */
async function firstAnswer(child, port, request) {
  const deadline = performance.now() + startTimeoutMillis;
  /** @type {number | string} */
  let lastAnswer = 'no answer';
  while (performance.now() < deadline) {
    lastAnswer = await ask(port, request.bytes);
    if (lastAnswer === request.status) return;
    if (child.exitCode !== null) throw new Error(`it ended with exit code ${child.exitCode}`);
    await sleep(retryMillis);
  }
  throw new Error(`${lastAnswer} after ${startTimeoutMillis} ms`);
}

/**
 * @param {number} port
 * @param {Buffer} bytes
 * @returns {Promise<number | string>} the status, or why there is none
 */
function ask(port, bytes) {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' });
    /** @param {number | string} answer */
    const settle = (answer) => {
      socket.destroy();
      resolve(answer);
    };
    socket.on('data', replyReader(settle));
    socket.on('error', (error) => settle(error.message));
    socket.on('close', () => settle('closed'));
    socket.write(bytes);
  });
}

/** @param {import('node:child_process').ChildProcess} child */
async function stop(child) {
  if (child.exitCode === null && child.signalCode === null) {
    const exited = once(child, 'exit');
    child.kill('SIGTERM');
    const isGone = await Promise.race([
      exited,
      sleep(stopPatienceMillis, undefined, { ref: false }),
    ]);
    if (!isGone) {
      child.kill('SIGKILL');
      await exited;
    }
  }
  running.delete(child);
}
