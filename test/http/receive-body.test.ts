import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { receiveBody } from '../../src/http/receive-body.ts';
import { BodyBytes, type RequestBody } from '../../src/service/input.ts';

function receive(limit: number) {
  const request = new IncomingMessage(new Socket());
  request.headers = { 'transfer-encoding': 'chunked' };
  const received: RequestBody[] = [];
  receiveBody(request, limit, (body) => received.push(body));
  return { request, received };
}

test('chunks are concatenated', async () => {
  const { request, received } = receive(4);
  request.push('ab');
  request.push('cd');
  request.push(null);
  await setImmediate();
  expect(received).toEqual([new BodyBytes(Buffer.from('abcd'))]);
});

test('bytes after the limit are discarded', async () => {
  const { request, received } = receive(4);
  for (const chunk of ['ab', 'cd', 'e', 'f'.repeat(1_000_000)]) request.push(chunk);
  await setImmediate();
  expect(received).toEqual([{ kind: 'too-large', limit: 4 }]);
  expect(request.listenerCount('data')).toBe(0);
  expect(request.readableFlowing).toBe(true);
  expect(request.readableLength).toBe(0);

  request.push(null);
  await setImmediate();
  expect(received).toHaveLength(1);
});
