import { networkInterfaces } from 'node:os';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { Feature } from '../../src/server/feature.ts';
import { NODE_PLATFORM } from '../../src/server/node-platform.ts';
import { formatUrl, startServerWith } from '../../src/server/server.ts';
import { serverFor } from '../helpers/deployment.ts';

test('a server that cannot listen closes what it has opened', async () => {
  const { port } = await serverFor();
  const closed: string[] = [];
  const note = (what: string) => () => void closed.push(what);
  const every = vi.spyOn(NODE_PLATFORM, 'every').mockReturnValue(note('sandboxes'));
  onTestFinished(() => every.mockRestore());
  const responder = { responder: vi.fn(), close: note('responder') };
  const feature: Feature = { name: 'opens', openResponder: async () => Object(responder) };
  const started = startServerWith([feature], { port, sandboxIdle: 60_000 });
  await expect(started).rejects.toMatchObject({ code: 'EADDRINUSE' });
  expect(closed.toSorted()).toEqual(['responder', 'sandboxes']);
});

test.each([
  ['127.0.0.1', '127.0.0.1', 'http://127.0.0.1:4010/v1'],
  ['pets.test', '192.0.2.7', 'http://pets.test:4010/v1'],
  ['::1', '::1', 'http://[::1]:4010/v1'],
  ['0.0.0.0', '0.0.0.0', 'http://localhost:4010/v1'],
  ['0', '0.0.0.0', 'http://localhost:4010/v1'],
  ['::', '::', 'http://localhost:4010/v1'],
  ['::ffff:0:0', '::ffff:0.0.0.0', 'http://localhost:4010/v1'],
])('a server on %s that listens on %s has the URL %s', (host, address, url) => {
  expect(formatUrl('http', host, { address, family: '', port: 4010 })).toBe(url);
});

const addresses = Object.values(networkInterfaces()).flatMap((all) => all ?? []);
const hasIpv6 = addresses.some(({ address }) => address === '::1');

test.runIf(hasIpv6).each([undefined, 'localhost', '0.0.0.0'])(
  'a server on %s is reached over IPv4 and IPv6, until it is closed',
  async (host) => {
    const { port, close } = await serverFor(host === undefined ? {} : { host });
    for (const name of ['127.0.0.1', '[::1]']) {
      const url = `http://${name}:${port}/v1/pets`;
      expect((await fetch(url)).status).toBe(401);
    }
    await close();
    await expect(fetch(`http://[::1]:${port}/v1/pets`)).rejects.toThrow('fetch failed');
  },
);
