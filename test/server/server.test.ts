import { networkInterfaces } from 'node:os';
import { expect, test } from 'vitest';
import { formatUrl } from '../../src/server/server.ts';
import { serverFor } from '../helpers/deployment.ts';

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
