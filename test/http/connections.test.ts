import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { LATEST } from '../../src/http/connections.ts';
import { Faults } from '../../src/http/faults/faults.ts';
import { createListener } from '../../src/http/listener.ts';
import { createServiceHandler } from '../../src/http/service.ts';
import { Sandboxes } from '../../src/sandbox/sandboxes.ts';
import { startOf } from '../../src/scenario/sandbox-start.ts';
import { loadFixtureSync } from '../../src/store/fixture/load-fixture.ts';
import { closeRaw, openRaw, rawRequest } from '../helpers/raw.ts';

afterEach(closeRaw);

const REX = '{"name":"Rex","categoryId":1}';
const OF_REX = { 'Content-Type': 'application/json', 'Content-Length': String(REX.length) };

test.each([
  ['GET', rawRequest('GET', '/v1/pets/1')],
  ['POST', rawRequest('POST', '/v1/pets', OF_REX, REX)],
])('a connection does not keep the response to a %s that is over', async (_method, request) => {
  const sandboxes = new Sandboxes(startOf({}, loadFixtureSync('default'), []));
  const wire = { plain: false, faults: new Faults() };
  const service = createServiceHandler({ sandboxes, ...wire });
  const loadApp = () => Promise.reject(new Error('there is no Express'));
  const parts = { service, loadApp, sandbox: sandboxes.default, ...wire };
  const { server, close } = createListener(parts);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const accepted = once(server, 'connection');
  const client = await openRaw((server.address() as AddressInfo).port);
  const [socket] = await accepted;
  client.send(request);
  expect((await client.reply()).status).toBeLessThan(300);
  expect(socket[LATEST]).toBeUndefined();
  await close();
});
