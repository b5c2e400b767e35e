import { text } from 'node:stream/consumers';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { Upstreams } from '../../../src/deployment/upstream/upstreams.ts';
import type { Upstream } from '../../../src/sandbox/upstream.ts';
import { rawDeployment } from '../../helpers/deployment.ts';

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

const LIST = { method: 'GET', target: '/pets', headers: [], body: undefined };

async function use(upstream: Upstream): Promise<void> {
  const { body } = await upstream.send({ ...LIST, whenLeft: () => () => {} });
  expect(await text(body)).toBe('[]');
}

test('an upstream that nobody uses is forgotten with its connections, one in use is kept', async () => {
  const answer = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]';
  const [used, unused] = [await rawDeployment(answer), await rawDeployment(answer)];
  const upstreams = new Upstreams();
  const kept = await upstreams.open(new URL(used.url));
  await use(kept);
  await use(await upstreams.open(new URL(unused.url)));
  await expect
    .poll(() => {
      collectGarbage();
      return unused.sockets.map((socket) => socket.destroyed);
    })
    .toEqual([true]);
  await use(kept);
  expect(used.sockets).toHaveLength(1);
  expect(await upstreams.open(new URL(used.url))).toBe(kept);
  upstreams.close();
});
