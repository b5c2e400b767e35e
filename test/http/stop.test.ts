import { once } from 'node:events';
import { afterEach, expect, test } from 'vitest';
import type { RunningServer, ServerOptions } from '../../src/server.ts';
import { serverFor } from '../helpers/deployment.ts';
import { closeRaw, openRaw, type RawConnection, rawRequest } from '../helpers/raw.ts';

afterEach(closeRaw);

/** Longer than any test: whatever waits for a client's time to be over is seen to. */
const NEVER = 1_000_000;

const start = (options: ServerOptions = {}): Promise<RunningServer> =>
  serverFor({ timeouts: { stop: NEVER }, ...options });

/** Connects a client, and waits until it has been answered once. */
async function openUsed(port: number): Promise<RawConnection> {
  const connection = await openRaw(port);
  connection.send(rawRequest('GET', '/v1/pets/1'));
  await connection.reply();
  return connection;
}

function post(body: string, more: Readonly<Record<string, string>> = {}): string {
  const headers = { 'Content-Type': 'application/json', 'Content-Length': String(body.length) };
  return rawRequest('POST', '/v1/pets', { ...headers, ...more }, body);
}

const REX = '{"name":"Rex","categoryId":1}';

/** Sends a request and waits for the first piece of its reply. */
async function openBegun(port: number, request: string): Promise<RawConnection> {
  const connection = await openRaw(port);
  const begun = once(connection.socket, 'data');
  connection.send(request);
  await begun;
  return connection;
}

test('a slow reader gets a complete long list', async () => {
  const server = await start({ animals: 300_000 });
  const idle = await openUsed(server.port);
  const reader = await openBegun(server.port, rawRequest('GET', '/v1/inventory'));
  reader.socket.pause();
  const closed = server.close();
  expect(await idle.rest()).toBe('');
  reader.socket.resume();
  const wire = await reader.rest();
  expect(wire.endsWith('}]')).toBe(true);
  expect(wire.length).toBeGreaterThan(12_000_000);
  reader.socket.end();
  await closed;
});

test('a delayed reply is sent at once, and is the last on its connection', async () => {
  const server = await start();
  const connection = await openUsed(server.port);
  connection.send(rawRequest('GET', '/v1/pets/3', { Prefer: 'scenario=slow' }));
  await openUsed(server.port);
  const closed = server.close();
  const { body, headers } = await connection.reply();
  expect([JSON.parse(body).id, headers.connection]).toEqual([3, 'close']);
  expect(await connection.rest()).toBe('');
  connection.socket.end();
  await closed;
});

test('a request whose body is still arriving is answered', async () => {
  const server = await start();
  const connection = await openUsed(server.port);
  connection.send(post(REX).slice(0, -1));
  const idle = await openUsed(server.port);
  const closed = server.close();
  await idle.rest();
  connection.send('}');
  const reply = await connection.reply();
  expect(reply.status).toBe(201);
  expect(reply.headers.connection).toBe('close');
  expect(await connection.rest()).toBe('');
  connection.socket.end();
  await closed;
});

test('requests that arrived before the stop are answered', async () => {
  const server = await start();
  const connections = await Promise.all([1, 2, 3].map(() => openUsed(server.port)));
  const request = rawRequest('GET', '/v1/pets/2');
  // Within one machine a write is an arrival.
  const arrivals = connections.map(
    ({ socket }) => new Promise((arrived) => socket.write(request, arrived)),
  );
  await Promise.all(arrivals);
  const closed = server.close();
  for (const connection of connections) {
    const { status, headers } = await connection.reply();
    expect([status, headers.connection]).toEqual([200, 'close']);
    connection.socket.end();
  }
  await closed;
});

test.each<[string, boolean, string]>([
  ['sent nothing', false, ''],
  ['stopped in its headers', false, 'GET /v1/pets HTTP/1.1\r\nHost: loc'],
  ['rests', true, rawRequest('GET', '/v1/pets')],
  ['stopped in its next headers', true, `${rawRequest('GET', '/v1/pets')}GET /v1`],
  ['owes the rest of a body that is refused', true, post('', { 'Content-Length': '2000000' })],
  [
    'holds back a body that is refused',
    true,
    post('', { 'Content-Length': '2000000', Expect: '100-continue' }),
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
  const server = await start({ animals: 300_000, timeouts: { stop: 50 } });
  const sender = await openUsed(server.port);
  sender.send(post(REX).slice(0, -1));
  const reader = await openBegun(server.port, rawRequest('GET', '/v1/inventory'));
  reader.socket.pause();
  await server.close();
  expect(await sender.rest()).toBe('');
});
