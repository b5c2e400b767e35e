/**
 * Thousands of faults, run by a test in a separate process with `--expose-gc`. Prints what the
 * process holds before and after as JSON.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import type { WireReply } from '../../src/http/faults/breaking.ts';
import { carryOut } from '../../src/http/faults/faults.ts';
import { PendingResponses } from '../../src/http/pending-responses.ts';
import type { Fault } from '../../src/scenario/fault-table.ts';

/** What a process holds. */
interface Held {
  /** How many there are of each kind of resource that keeps the process alive. */
  readonly resources: Readonly<Record<string, number>>;
  readonly megabytes: number;
}

export interface LoadReport {
  readonly before: Held;
  readonly after: Held;
  readonly carriedOut: Readonly<Record<Fault['kind'], number>>;
}

/** What a client does when it has sent its request. */
type Manner = 'stays' | 'leaves when asked' | 'leaves at the first byte';

interface Exchange {
  readonly fault: Fault;
  readonly manner: Manner;
}

const MIX: readonly Exchange[] = [
  { fault: { kind: 'reset' }, manner: 'stays' },
  { fault: { kind: 'close' }, manner: 'stays' },
  { fault: { kind: 'html' }, manner: 'stays' },
  { fault: { kind: 'truncate' }, manner: 'stays' },
  { fault: { kind: 'malformed-json' }, manner: 'stays' },
  { fault: { kind: 'bad-chunk' }, manner: 'stays' },
  { fault: { kind: 'slow-body', chunks: 3, over: 3 }, manner: 'stays' },
  { fault: { kind: 'slow-body', chunks: 3, over: 600_000 }, manner: 'leaves at the first byte' },
  { fault: { kind: 'slow-body', chunks: 3, over: 600_000 }, manner: 'leaves when asked' },
  { fault: { kind: 'hang' }, manner: 'leaves when asked' },
];
const WARM_UP = 1_000;
const REQUESTS = 10_000;
const AT_ONCE = 50;

const REPLY: WireReply = {
  status: 200,
  headers: ['Content-Type', 'application/json'],
  body: JSON.stringify(Array.from({ length: 20 }, (_, id) => ({ id, name: 'Bella' }))),
};

const pending = new PendingResponses();
const carriedOut = {
  reset: 0,
  close: 0,
  hang: 0,
  html: 0,
  truncate: 0,
  'malformed-json': 0,
  'bad-chunk': 0,
  'slow-body': 0,
} satisfies Record<Fault['kind'], number>;

const waiting = new Map<string, Socket>();
const server = createServer((request, response) => {
  const url = request.url ?? '';
  const exchange = MIX[Number(url.slice(1)) % MIX.length];
  if (exchange === undefined) throw new Error(`Nothing is at ${url}.`);
  carriedOut[exchange.fault.kind] += 1;
  carryOut(exchange.fault, response, REPLY, pending);
  if (exchange.manner === 'leaves when asked') waiting.get(url)?.destroy();
});

/** Sends one request in its way and waits until both ends of the connection are closed. */
async function exchange(port: number, index: number): Promise<void> {
  const url = `/${index}`;
  const manner = MIX[index % MIX.length]?.manner;
  const socket = connect(port, '127.0.0.1');
  waiting.set(url, socket);
  socket.on('error', () => {});
  const closed = new Promise((resolve) => socket.once('close', resolve));
  if (manner === 'leaves at the first byte') socket.once('data', () => socket.destroy());
  else socket.resume();
  // The last reply closes its connection, even if its fault would keep it open.
  const last = manner === 'stays' ? 'Connection: close\r\n' : '';
  const request = `GET ${url} HTTP/1.1\r\nHost: localhost\r\n${last}\r\n`;
  socket.write(request);
  await closed;
  waiting.delete(url);
}

async function load(port: number, requests: number): Promise<void> {
  let next = 0;
  const client = async (): Promise<void> => {
    while (next < requests) await exchange(port, next++);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, client));
  // The server notices only later that the last clients disconnected.
  while ((await connections()) > 0) await setImmediate();
}

function connections(): Promise<number> {
  return new Promise((resolve, reject) => {
    server.getConnections((error, count) => {
      if (error === null) resolve(count);
      else reject(error);
    });
  });
}

async function held(): Promise<Held> {
  // What one garbage collection finalizes is freed by the next.
  for (let i = 0; i < 5; i++) {
    await setImmediate();
    globalThis.gc?.();
  }
  const resources: Record<string, number> = {};
  for (const kind of process.getActiveResourcesInfo()) {
    resources[kind] = (resources[kind] ?? 0) + 1;
  }
  const { heapUsed, external } = process.memoryUsage();
  return { resources, megabytes: (heapUsed + external) / 2 ** 20 };
}

server.listen(0, '127.0.0.1');
await once(server, 'listening');
const address = server.address();
if (address === null || typeof address === 'string') throw new Error('The server has no port.');
await load(address.port, WARM_UP);
const before = await held();
await load(address.port, REQUESTS);
const after = await held();
const report: LoadReport = { before, after, carriedOut };
// A leaked timer would keep the process from exiting.
process.stdout.write(JSON.stringify(report), () => process.exit());
