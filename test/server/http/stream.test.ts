import { once } from 'node:events';
import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { writeReply } from '../../../src/server/http/write.ts';
import { listen } from '../../helpers/host.ts';
import { openRaw, type RawConnection, rawRequest } from '../../helpers/raw.ts';

/** Connects a client that has the start of a reply. */
async function openBegun(answer: RequestListener): Promise<[RawConnection, ServerResponse]> {
  const server = createServer(answer);
  onTestFinished(() => void server.close());
  const client = await openRaw(await listen(server));
  const requested = once(server, 'request');
  const begun = once(client.socket, 'data');
  client.send(rawRequest('GET', '/'));
  const [, response] = await requested;
  await begun;
  return [client, response];
}

test('a text in pieces is written as the client reads it, and no further once it left', async () => {
  let made = 0;
  function* pieces(): Generator<string> {
    for (; made < 1_000_000; made += 1) yield 'x'.repeat(64 * 1024);
  }
  const [client, response] = await openBegun((_request, it) => writeReply(it, 200, [], pieces()));
  client.socket.pause();
  await expect.poll(() => response.writableNeedDrain).toBe(true);
  expect(response.writableLength).toBeLessThan(1024 ** 2);
  const closed = once(response, 'close');
  client.socket.destroy();
  await closed;
  await setImmediate();
  const before = made;
  for (let turn = 0; turn < 20; turn += 1) await setImmediate();
  expect([before < 1_000_000, made - before]).toEqual([true, 0]);
});

test('a text in pieces is complete, whatever its characters', async () => {
  const piece = 'xé😀'.repeat(10_000);
  const [client] = await openBegun((_request, response) =>
    writeReply(response, 200, [], [piece, piece, piece]),
  );
  expect((await client.reply()).body).toBe(piece.repeat(3));
});
