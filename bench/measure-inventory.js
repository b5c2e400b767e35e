// A million inventory entries in one reply: what it adds to memory, and what it does to a client
// that asks for a page of animals meanwhile.

import { once } from 'node:events';
import { connect } from 'node:net';
import { createHistogram } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { forgetPeak, peakResidentBytes } from './machine.js';
import { replyReader } from './reply-reader.js';
import { startServer } from './server-process.js';
import { prepareRequest } from './work.js';

/** @type {import('./work.js').Call} */
const wholeInventory = { method: 'GET', path: '/v1/inventory', status: 200 };
const pauseMillis = 5;
const warmUpRequests = 200;

/**
 * @typedef {object} InventoryRow
 * @property {import('./subjects.js').Subject} subject
 * @property {number} animals
 * @property {{ megabytes: number, seconds: number, growth: number, besideP50: number, besideMax: number }[]} rounds
 *   `growth`: peak resident bytes during the stream over those before it; `beside…`: milliseconds
 */

/**
 * @param {import('./subjects.js').Subject} subject
 * @param {import('./subjects.js').Setup & { animals: number }} setup
 * @param {number} rounds
 * @returns {Promise<InventoryRow>}
 */
export async function measureInventory(subject, setup, rounds) {
  const server = await startServer(subject, setup);
  try {
    const pets = await openConnection(server.port, subject.dialect.list());
    const inventory = await openConnection(server.port, wholeInventory);
    for (let count = 0; count < warmUpRequests; count++) await pets.ask();
    const measured = [];
    for (let round = 0; round < rounds; round++) {
      measured.push(await measureStream(server.pid, inventory, pets));
    }
    pets.close();
    inventory.close();
    return { subject, animals: setup.animals, rounds: measured };
  } finally {
    await server.stop();
  }
}

/**
 * @param {number} pid
 * @param {Connection} inventory
 * @param {Connection} pets
 */
async function measureStream(pid, inventory, pets) {
  const latency = createHistogram();
  forgetPeak(pid);
  const residentBefore = peakResidentBytes(pid);
  const started = performance.now();
  let isStreaming = true;
  const stream = inventory.ask().then((bytes) => {
    isStreaming = false;
    return { bytes, seconds: (performance.now() - started) / 1000 };
  });
  while (isStreaming) {
    const askedAt = performance.now();
    await pets.ask();
    latency.record(Math.max(1, Math.round((performance.now() - askedAt) * 1000)));
    await sleep(pauseMillis);
  }
  const { bytes, seconds } = await stream;
  return {
    megabytes: bytes / 1e6,
    seconds,
    growth: peakResidentBytes(pid) - residentBefore,
    besideP50: latency.percentile(50) / 1000,
    besideMax: latency.max / 1000,
  };
}

/** @typedef {{ ask: () => Promise<number>, close: () => void }} Connection */

/**
 * A connection on which one request can be asked again and again; it answers with the length of
 * the body and throws the bytes away.
 *
 * @param {number} port
 * @param {import('./work.js').Call} call
 * @returns {Promise<Connection>}
 */
async function openConnection(port, call) {
  const request = prepareRequest(call);
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  await once(socket, 'connect');
  let bodyBytes = 0;
  /** @type {Waiting | undefined} */
  let waiting;
  socket.on(
    'data',
    replyReader(
      (status) => {
        if (status === request.status) waiting?.resolve(bodyBytes);
        else waiting?.reject(new Error(`${call.method} ${call.path} was answered ${status}.`));
      },
      (body) => {
        bodyBytes += body.length;
      },
    ),
  );
  socket.on('error', (error) => waiting?.reject(error));
  socket.on('close', () => waiting?.reject(new Error(`${call.path}: the connection was closed.`)));
  return {
    ask: () =>
      new Promise((resolve, reject) => {
        bodyBytes = 0;
        waiting = { resolve, reject };
        socket.write(request.bytes);
      }),
    close: () => socket.destroy(),
  };
}

/** @typedef {{ resolve: (bytes: number) => void, reject: (error: Error) => void }} Waiting */
