// The load generator: keep-alive connections over plain sockets, one request in flight on each.
// autocannon and other generators for Node parse every reply in full and need more CPU time for a
// request than the servers measured here: they would measure themselves.

import { once } from 'node:events';
import { connect } from 'node:net';
import { createHistogram } from 'node:perf_hooks';
import { connect as connectSecurely } from 'node:tls';

const READ_BUFFER_BYTES = 64 * 1024;
const END_OF_HEAD = Buffer.from('\r\n\r\n');
const END_OF_CHUNKS = '\r\n0\r\n\r\n';
const NOTHING = Buffer.alloc(0);

/**
 * @typedef {{ method: string, path: string, status: number, body?: object }} Call `status` is the expected one
 * @typedef {{ bytes: Buffer, status: number }} PreparedRequest
 * @typedef {object} LoadOptions
 * @property {number} port
 * @property {boolean} [tls] over TLS, with whatever certificate the server has
 * @property {PreparedRequest[]} requests sent in turn, from the first again after the last
 * @property {number} connections
 * @property {number} [seconds]
 * @property {number} [limit] of requests
 * @property {number} [perSecond] a fixed rate instead of as many as possible
 * @property {() => void} [onConnected] called before the first request
 * @property {() => boolean} [isOver] ends the load before its time
 */

/** @param {Call} call */
export function prepare({ method, path, status, body }) {
  const text = body ? JSON.stringify(body) : '';
  const type = `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(text)}\r\n`;
  const head = `${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer demo-key\r\n`;
  return { bytes: Buffer.from(`${head}${text && type}\r\n${text}`), status };
}

/** Runs until the time is over or the limit is reached. Latencies are in milliseconds. */
export async function runLoad(
  /** @type {LoadOptions} */ { port, tls = false, requests, connections, perSecond, ...bounds },
) {
  const { seconds = Infinity, limit = Infinity, isOver = () => false } = bounds;
  const { onConnected = () => {} } = bounds;
  const latency = createHistogram({ lowest: 1, highest: 120_000_000, figures: 3 });
  const lanes = await Promise.all(
    Array.from({ length: connections }, () => openConnection(port, tls)),
  );
  onConnected();
  const started = performance.now();
  let sent = 0;

  /** @param {Connection} lane */
  const runLane = (lane) =>
    new Promise((resolve, reject) => {
      function sendNext() {
        const isTimeOver = performance.now() >= started + seconds * 1000;
        const request = requests[sent % requests.length];
        if (!request || isTimeOver || sent >= limit || isOver()) return resolve(undefined);
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
 * @typedef {(next: PreparedRequest, onReply: (error?: Error) => void) => void} Send
 * @typedef {Awaited<ReturnType<typeof openConnection>>} Connection
 */

/** @type {(port: number, tls: boolean) => Promise<{ send: Send, close: () => void }>} */
async function openConnection(port, tls) {
  /** @type {PreparedRequest | undefined} */
  let request;
  /** @type {(error?: Error) => void} */
  let done = () => {};
  const read = replyReader((status) => {
    if (status === request?.status) return done();
    const [line] = request?.bytes.toString('latin1').split('\r\n') ?? [];
    done(new Error(`${line} was answered ${status}, not ${request?.status}`));
  });
  const buffer = Buffer.allocUnsafe(READ_BUFFER_BYTES);
  const callback = (/** @type {number} */ count) => {
    read(buffer.subarray(0, count));
    return true;
  };
  const onread = { buffer, callback };
  const options = { port, host: '127.0.0.1', noDelay: true, onread };
  const socket = tls
    ? connectSecurely({ ...options, rejectUnauthorized: false })
    : connect(options);
  await once(socket, tls ? 'secureConnect' : 'connect');
  socket.on('error', (error) => done(error));
  socket.on('close', () => done(new Error('The server closed the connection.')));
  return {
    // A callback: a promise would cost the load more CPU time.
    send(next, onReply) {
      request = next;
      done = onReply;
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
  let partOfHead = NOTHING;
  let isInBody = false;
  let status = 0;
  let bytesLeft = 0; // of the body; NaN if it is chunked
  let tail = ''; // of a chunked body
  return (bytes) => {
    let body = bytes;
    if (!isInBody) {
      const all = partOfHead.length > 0 ? Buffer.concat([partOfHead, bytes]) : bytes;
      const end = all.indexOf(END_OF_HEAD);
      partOfHead = end < 0 ? Buffer.from(all) : NOTHING; // a copy: the socket reuses its buffer
      if (end < 0) return;
      const head = all.toString('latin1', 0, end);
      status = Number(head.slice(9, 12));
      const isChunked = /\r\ntransfer-encoding: *chunked/i.test(head);
      bytesLeft = isChunked ? NaN : Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0);
      tail = '\r\n';
      body = all.subarray(end + END_OF_HEAD.length);
      isInBody = true;
    }
    bytesLeft -= body.length;
    if (Number.isNaN(bytesLeft)) {
      const last = body.toString('latin1', Math.max(0, body.length - END_OF_CHUNKS.length));
      tail = (tail + last).slice(-END_OF_CHUNKS.length);
    }
    if (Number.isNaN(bytesLeft) ? tail !== END_OF_CHUNKS : bytesLeft > 0) return;
    isInBody = false;
    onReply(status);
  };
}
