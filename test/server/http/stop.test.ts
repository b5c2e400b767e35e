import { once } from 'node:events';
import { expect, test } from 'vitest';
import type { ServerOptions } from '../../../src/index.ts';
import type { RunningServer } from '../../../src/server/server.ts';
import { serverFor } from '../../helpers/deployment.ts';
import { openRaw, type RawConnection, rawRequest } from '../../helpers/raw.ts';

/** Longer than any test: whatever waits for a client's time to be over is seen to. */
const NEVER = 1_000_000;

const start = (options: ServerOptions = {}): Promise<RunningServer> =>
  serverFor({ timeouts: { stop: NEVER }, ...options });

const GET = rawRequest('GET', '/v1/pets/1');
const LONG = rawRequest('GET', '/v1/inventory');

/** Connects a client that has been answered once. */
async function openUsed(port: number): Promise<RawConnection> {
  const connection = await openRaw(port);
  connection.send(GET);
  await connection.reply();
  return connection;
}

const REX = '{"name":"Rex","categoryId":1}';

function post(body: string, more: Readonly<Record<string, string>> = {}): string {
  const headers = { 'Content-Type': 'application/json', 'Content-Length': String(body.length) };
  return rawRequest('POST', '/v1/pets', { ...headers, ...more }, body);
}

/** Connects a client that has the first piece of a reply. */
async function openBegun(port: number, request: string): Promise<RawConnection> {
  const connection = await openRaw(port);
  const begun = once(connection.socket, 'data');
  connection.send(request);
  await begun;
  return connection;
}

test('a slow reader gets a complete long list', async () => {
  const server = await start({ animals: 100_000 });
  const idle = await openUsed(server.port);
  const reader = await openBegun(server.port, LONG);
  reader.socket.pause();
  const closed = server.close();
  expect(await idle.rest()).toBe('');
  reader.socket.resume();
  const wire = await reader.rest();
  expect([wire.endsWith('}]'), wire.length > 4_000_000]).toEqual([true, true]);
  reader.socket.end();
  await closed;
});

const COUNT = '{"atLeast":9,"within":"PT60S"}';
const WAIT = post(COUNT).replace('/v1/pets', '/__mock/requests/count');

test.each([
  ['that just arrived', GET, '', 200],
  ['whose reply is delayed', rawRequest('GET', '/v1/pets/1', { Prefer: 'scenario=slow' }), '', 200],
  ['whose body is still arriving', post(REX).slice(0, -1), '}', 201],
  ['for a count that waits', WAIT.slice(0, -1), '}', 200],
])('a request %s is answered, last on its connection', async (_what, before, after, status) => {
  const server = await start();
  const { socket, send, reply, rest } = await openUsed(server.port);
  // Within one machine a write is an arrival.
  await new Promise((done) => socket.write(before, done));
  const closed = server.close();
  send(after);
  const { headers, ...last } = await reply();
  expect([last.status, headers.connection]).toEqual([status, 'close']);
  expect(await rest()).toBe('');
  socket.end();
  await closed;
});

test.each([
  ['sent nothing', false, ''],
  ['stopped in its headers', false, 'GET /v1/pets HTTP/1.1\r\nHost: loc'],
  ['stopped in its next headers', true, `${GET}GET /v1`],
  ['owes the rest of a body that is refused', true, post('', { 'Content-Length': '2000000' })],
  ['has just asked for a stream', false, rawRequest('GET', '/__mock/requests/stream')],
  [
    'looks at a sandbox that nobody has used',
    true,
    rawRequest('GET', '/~new/__mock/requests/stream'),
  ],
  ['streams the journal', true, rawRequest('GET', '/__mock/requests/stream')],
  ['hangs', false, rawRequest('GET', '/v1/pets/1', { Prefer: 'scenario=outage' })],
])('close() does not wait for a client that %s', async (_what, answered, bytes) => {
  const server = await start();
  if (answered) await openBegun(server.port, bytes);
  else (await openRaw(server.port)).send(bytes);
  await openUsed(server.port);
  await server.close();
});

test('close() waits only so long for a body that does not arrive, and for a client that does not read', async () => {
  const server = await start({ animals: 100_000, timeouts: { stop: 50 } });
  const sender = await openUsed(server.port);
  sender.send(post(REX).slice(0, -1));
  const reader = await openBegun(server.port, LONG);
  reader.socket.pause();
  await server.close();
  expect(await sender.rest()).toBe('');
});
