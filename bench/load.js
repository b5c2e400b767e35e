// The load generator: keep-alive connections over plain sockets, one request in flight on each.
// autocannon and other generators for Node parse every reply in full and need more CPU time for a
// request than the servers measured here: they would measure themselves.

import { once } from 'node:events';
import { connect } from 'node:net';
import { createHistogram } from 'node:perf_hooks';

const READ_BUFFER_BYTES = 64 * 1024;
const END_OF_HEAD = Buffer.from('\r\n\r\n');
const END_OF_CHUNKS = '\r\n0\r\n\r\n';

/**
 * @typedef {{ method: string, path: string, status: number, body?: object }} Call `status` is the expected one
 * @typedef {{ bytes: Buffer, status: number }} PreparedRequest
 * @typedef {object} LoadOptions
 * @property {number} port
 * @property {PreparedRequest[]} requests sent in turn, from the first again after the last
 * @property {number} connections
 * @property {number} [seconds]
 * @property {number} [limit] of requests
 * @property {number} [perSecond] a fixed rate instead of as many as possible
 * @property {() => boolean} [isOver] ends the load before its time
 */

/** @param {Call} call */
export function prepare({ method, path, status, body }) {
  const text = body ? JSON.stringify(body) : '';
  const lines = [
    `${method} ${path} HTTP/1.1`,
    'Host: 127.0.0.1',
    'Authorization: Bearer demo-key',
    ...(text
      ? ['Content-Type: application/json', `Content-Length: ${Buffer.byteLength(text)}`]
      : []),
  ];
  return { bytes: Buffer.from(`${lines.join('\r\n')}\r\n\r\n${text}`), status };
}

/**
 * Runs until the time is over or the limit is reached. Latencies are in milliseconds.
 *
 * @param {LoadOptions} options
 */
export async function runLoad({ port, requests, connections, perSecond, ...bounds }) {
  const { seconds = Infinity, limit = Infinity, isOver = () => false } = bounds;
  const latency = createHistogram({ lowest: 1, highest: 120_000_000, figures: 3 });
  const lanes = await Promise.all(Array.from({ length: connections }, () => openConnection(port)));
  const started = performance.now();
  let sent = 0;

  /**
   * @param {Connection} lane
   * @returns {Promise<void>}
   */
  const runLane = (lane) =>
    new Promise((resolve, reject) => {
      function sendNext() {
        const isTimeOver = performance.now() >= started + seconds * 1000;
        const request = requests[sent % requests.length];
        if (!request || isTimeOver || sent >= limit || isOver()) return resolve();
        sent++;
        const askedAt = performance.now();
        lane.send(request, (error) => {
          if (error) return reject(error);
          latency.record(Math.max(1, Math.round((performance.now() - askedAt) * 1000)));
          if (!perSecond) return sendNext();
          setTimeout(sendNext, started + (sent / perSecond) * 1000 - performance.now());
        });
      }
      sendNext();
    });
  try {
    await Promise.all(lanes.map(runLane));
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
 * Callbacks rather than promises: they cost the load less CPU time.
 *
 * @typedef {{ send: (request: PreparedRequest, done: (error?: Error) => void) => void, close: () => void }} Connection
 */

/**
 * @param {number} port
 * @returns {Promise<Connection>}
 */
export async function openConnection(port) {
  /** @type {PreparedRequest | undefined} */
  let request;
  /** @type {(error?: Error) => void} */
  let done = () => {};
  const read = replyReader((status) => {
    if (status === request?.status) return done();
    const [line] = request?.bytes.toString('latin1').split('\r\n') ?? [];
    done(new Error(`${line} was answered ${status}, not ${request?.status}`));
  });
  const socket = connect({
    port,
    host: '127.0.0.1',
    noDelay: true,
    onread: {
      buffer: Buffer.allocUnsafe(READ_BUFFER_BYTES),
      callback: (count, buffer) => {
        read(/** @type {Buffer} */ (buffer).subarray(0, count));
        return true;
      },
    },
  });
  await once(socket, 'connect');
  socket.on('error', (error) => done(error));
  socket.on('close', () => done(new Error('The server closed the connection.')));
  return {
    send(next, callback) {
      request = next;
      done = callback;
      socket.write(next.bytes);
    },
    close: () => socket.destroy(),
  };
}

/**
 * Finds the end of each reply, and parses no more of it than that takes.
 *
 * @param {(status: number) => void} onReply
 * @returns {(bytes: Buffer) => void} takes the bytes of one connection as they arrive
 */
function replyReader(onReply) {
  let status = 0;
  let isInBody = false;
  let isChunked = false;
  let bodyBytesLeft = 0;
  let tail = '';
  /** @type {Buffer | undefined} */
  let partOfHead;

  /** @param {Buffer} bytes */
  function readHead(bytes) {
    const all = partOfHead ? Buffer.concat([partOfHead, bytes]) : bytes;
    const end = all.indexOf(END_OF_HEAD);
    if (end < 0) {
      partOfHead = Buffer.from(all); // a copy, since the socket reuses its buffer
      return;
    }
    partOfHead = undefined;
    const head = all.toString('latin1', 0, end);
    status = Number(head.slice(9, 12));
    const length = /\r\ncontent-length: *(\d+)/i.exec(head);
    isChunked = !length && /\r\ntransfer-encoding: *chunked/i.test(head);
    bodyBytesLeft = Number(length?.[1] ?? 0);
    tail = '\r\n';
    isInBody = true;
    readBody(all.subarray(end + END_OF_HEAD.length));
  }

  /** @param {Buffer} bytes */
  function readBody(bytes) {
    if (isChunked) {
      const last = bytes.toString('latin1', Math.max(0, bytes.length - END_OF_CHUNKS.length));
      tail = (tail + last).slice(-END_OF_CHUNKS.length);
      if (tail !== END_OF_CHUNKS) return;
    } else {
      bodyBytesLeft -= bytes.length;
      if (bodyBytesLeft > 0) return;
    }
    isInBody = false;
    onReply(status);
  }

  return (bytes) => (isInBody ? readBody(bytes) : readHead(bytes));
}
