import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { PendingResponses } from '../../src/http/pending-responses.ts';
import { createServiceHandler } from '../../src/http/service-handler.ts';
import { writeReply } from '../../src/http/write.ts';
import { Sandboxes } from '../../src/sandbox/sandboxes.ts';
import { startOf } from '../../src/scenario/sandbox-start.ts';
import { storeOf } from '../../src/store/store.ts';
import { closeRaw, openRaw, rawRequest } from '../helpers/raw.ts';

async function listen(answer: RequestListener): Promise<{ server: Server; port: number }> {
  const server = createServer(answer);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    closeRaw();
    server.close();
  });
  const address = server.address();
  return { server, port: typeof address === 'object' ? (address?.port ?? 0) : 0 };
}

test('a reply whose client has disconnected is made no further', async () => {
  let made = 0;
  function* pieces(): Generator<string> {
    for (; made < 1_000_000; made += 1) yield 'x'.repeat(64 * 1024);
  }
  let closed: Promise<unknown> | undefined;
  const { port } = await listen((_request, response) => {
    closed = once(response, 'close');
    writeReply(response, 200, [], { kind: 'pieces', pieces: pieces() });
  });
  const client = await openRaw(port);
  client.send(rawRequest('GET', '/'));
  await once(client.socket, 'data');
  client.socket.destroy();
  await closed;
  await setImmediate();
  const before = made;
  for (let turn = 0; turn < 20; turn += 1) await setImmediate();
  expect([before < 1_000_000, made - before]).toEqual([true, 0]);
});

describe('a client that does not read', () => {
  const MIB = 1024 ** 2;
  // Seven bytes in four units of UTF-16: chunks end within characters and within pairs.
  const LONG = 'xé😀'.repeat(3 * MIB);

  /** Animals whose names are longer than what the system takes for a client. */
  function longAnimals(): RequestListener {
    const animals = [1n, 2n, 3n].map((id) => ({ id, name: LONG, categoryId: id }));
    const store = storeOf({ animals, inventory: [], orders: [] });
    const sandboxes = new Sandboxes(startOf({}, store, []));
    return createServiceHandler({ sandboxes, plain: false, pending: new PendingResponses() });
  }

  const animal = (id: number): string => `{"id":${id},"name":"${LONG}","categoryId":${id}}`;

  test.each<[string, string, RequestListener, string]>([
    ['a page of animals', '/v1/pets', longAnimals(), `[${[1, 2, 3].map(animal)}]`],
    ['an animal', '/v1/pets/2', longAnimals(), animal(2)],
    [
      'a text',
      '/',
      (_, response) => writeReply(response, 200, [], { kind: 'text', text: LONG }),
      LONG,
    ],
    [
      'bytes',
      '/',
      (_, response) => writeReply(response, 200, [], { kind: 'text', text: Buffer.from(LONG) }),
      LONG,
    ],
  ])(
    'has the server hold little of %s, and gets all of it once it reads',
    async (_, target, answer, whole) => {
      const { server, port } = await listen(answer);
      const accepted = once(server, 'connection');
      const client = await openRaw(port);
      const [socket]: Socket[] = await accepted;
      client.socket.pause();
      client.send(rawRequest('GET', target, { Connection: 'close' }));
      await expect.poll(() => socket?.writableNeedDrain).toBe(true);
      expect(socket?.writableLength).toBeLessThan(MIB / 2);
      const chunks: Buffer[] = [];
      client.socket.on('data', (chunk) => chunks.push(chunk)).resume();
      await once(client.socket, 'end');
      expect(contentOf(Buffer.concat(chunks)).equals(Buffer.from(whole))).toBe(true);
    },
  );

  test('has a fault break only the start of a long reply, which alone is held', async () => {
    const { port } = await listen(longAnimals());
    const client = await openRaw(port);
    client.send(rawRequest('GET', '/v1/pets', { Prefer: 'scenario=truncated-bodies' }));
    const [, length = ''] = /Content-Length: (\d+)/.exec(await client.rest()) ?? [];
    expect(Number(length)).toBeGreaterThan(0);
    expect(Number(length)).toBeLessThan(MIB);
  });
});

/** The content of a reply, out of its chunks if it has some. */
function contentOf(reply: Buffer): Buffer {
  const start = reply.indexOf('\r\n\r\n') + 4;
  if (!/chunked/.test(reply.toString('latin1', 0, start))) return reply.subarray(start);
  const chunks: Buffer[] = [];
  for (let at = start; ; ) {
    const end = reply.indexOf('\r\n', at);
    const size = Number.parseInt(reply.toString('latin1', at, end), 16);
    if (size === 0) return Buffer.concat(chunks);
    chunks.push(reply.subarray(end + 2, end + 2 + size));
    at = end + 2 + size + 2;
  }
}
