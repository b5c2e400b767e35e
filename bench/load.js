// The load generator: a number of keep-alive connections, each with one request under way, over
// plain sockets. It stops after a time or a number of requests, whichever comes first.

import { connect } from 'node:net';
import { createHistogram } from 'node:perf_hooks';
import { replyReader } from './reply-reader.js';

const readBufferBytes = 64 * 1024;

/**
 * @typedef {{ bytes: Buffer, status: number }} PreparedRequest a request and the status it must get
 * @typedef {{ requests: number, seconds: number, perSecond: number, p50: number, p99: number, max: number }} LoadResult
 *   latencies in milliseconds
 */

/**
 * @param {{ port: number, requests: PreparedRequest[], connections: number, seconds: number, limit: number }} options
 * @returns {Promise<LoadResult>}
 */
export async function runLoad({ port, requests, connections, seconds, limit }) {
  const latency = createHistogram({ lowest: 1, highest: 120_000_000, figures: 3 });
  let sent = 0;
  let deadline = 0;

  /** The next request of all connections together, or nothing when it is time to stop. */
  function next() {
    if (sent >= limit || performance.now() >= deadline) return undefined;
    return requests[sent++ % requests.length];
  }

  const lanes = await Promise.all(Array.from({ length: connections }, () => openLane(port)));
  const started = performance.now();
  deadline = started + seconds * 1000;
  try {
    await Promise.all(lanes.map((lane) => lane.run(next, latency)));
  } finally {
    for (const lane of lanes) lane.close();
  }
  const elapsed = (performance.now() - started) / 1000;
  return {
    requests: sent,
    seconds: elapsed,
    perSecond: sent / elapsed,
    p50: latency.percentile(50) / 1000,
    p99: latency.percentile(99) / 1000,
    max: latency.max / 1000,
  };
}

/**
 * One connection, ready for requests.
 *
 * @param {number} port
 */
async function openLane(port) {
  /** @type {(status: number) => void} */
  let onReply = () => {};
  /** @type {(error: Error) => void} */
  let onFailure = () => {};
  const read = replyReader((status) => onReply(status));
  const socket = connect({
    port,
    host: '127.0.0.1',
    noDelay: true,
    onread: {
      buffer: Buffer.allocUnsafe(readBufferBytes),
      callback: (count, buffer) => {
        read(/** @type {Buffer} */ (buffer).subarray(0, count));
        return true;
      },
    },
  });
  await new Promise((resolve, reject) => {
    socket.once('connect', resolve);
    socket.once('error', reject);
  });
  socket.on('error', (error) => onFailure(error));
  socket.on('close', () => onFailure(new Error('The server closed a connection under load.')));

  /**
   * @param {() => PreparedRequest | undefined} next
   * @param {import('node:perf_hooks').RecordableHistogram} latency
   * @returns {Promise<void>}
   */
  function run(next, latency) {
    return new Promise((resolve, reject) => {
      let request = next();
      let sentAt = 0;
      onFailure = reject;
      onReply = (status) => {
        if (status !== request?.status) {
          const line = request?.bytes.toString('latin1').split('\r\n')[0];
          reject(new Error(`${line} was answered ${status}, not ${request?.status}.`));
          return;
        }
        latency.record(Math.max(1, Math.round((performance.now() - sentAt) * 1000)));
        request = next();
        send();
      };
      function send() {
        if (!request) {
          resolve();
          return;
        }
        sentAt = performance.now();
        socket.write(request.bytes);
      }
      send();
    });
  }

  return { run, close: () => socket.destroy() };
}
