import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { stream } from '../../src/http/list-stream.ts';
import { closeRaw, openRaw, rawRequest } from '../helpers/raw.ts';

/** Serves replies of so many pieces, and notes for which target each was made. */
async function serve(pieces: number, made: string[]): Promise<{ server: Server; port: number }> {
  function* rest(target: string): Generator<string, string> {
    for (let count = 1; count < pieces; count += 1) {
      made.push(target);
      yield 'x';
    }
    return '.';
  }
  const server = createServer((request, response) => {
    stream(response, '>', rest(request.url ?? ''));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    closeRaw();
    server.close();
  });
  const address = server.address();
  return { server, port: typeof address === 'object' ? (address?.port ?? 0) : 0 };
}

test('long replies share turns: one chunk per turn, round robin', async () => {
  const made: string[] = [];
  const { port } = await serve(300, made);
  const targets = ['/a', '/b', '/c', '/d', '/e'];
  const clients = await Promise.all(targets.map(() => openRaw(port)));
  for (const [index, { send }] of clients.entries()) send(rawRequest('GET', targets[index] ?? ''));
  while (new Set(made).size < targets.length) await setImmediate();
  const from = made.length;
  for (let turn = 1; turn <= 100; turn += 1) {
    await setImmediate();
    expect(made.length - from).toBeLessThanOrEqual(turn);
  }
  const since = made.slice(from);
  const shares = targets.map((target) => since.filter((it) => it === target).length);
  expect(Math.max(...shares) - Math.min(...shares)).toBeLessThanOrEqual(1);
  const bodies = await Promise.all(clients.map(async ({ reply }) => (await reply()).body));
  expect(bodies).toEqual(targets.map(() => `>${'x'.repeat(299)}.`));
});

test('a pipelined reply starts after the previous one is sent', async () => {
  const made: string[] = [];
  const { port } = await serve(50, made);
  const client = await openRaw(port);
  client.send(rawRequest('GET', '/first') + rawRequest('GET', '/second'));
  await client.replies(2);
  expect(made.lastIndexOf('/first')).toBe(48);
  expect(made.indexOf('/second')).toBe(49);
});

test('a reply whose client has disconnected takes no more turns', async () => {
  const made: string[] = [];
  const { port, server } = await serve(1_000_000, made);
  const client = await openRaw(port);
  client.send(rawRequest('GET', '/left'));
  await once(client.socket, 'data');
  const closed = once(server, 'connection').then(([socket]) => once(socket, 'close'));
  const next = await openRaw(port);
  client.socket.destroy();
  next.send(rawRequest('GET', '/next'));
  await once(next.socket, 'data');
  next.socket.destroy();
  await closed;
  await setImmediate();
  const before = made.length;
  for (let turn = 0; turn < 20; turn += 1) await setImmediate();
  expect(made.length - before).toBeLessThanOrEqual(1);
});
