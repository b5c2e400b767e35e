import { expect, test } from 'vitest';
import { formatUrl } from '../../src/server/server.ts';

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
