import { on, once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { EMPTY_STORE } from '../../../src/core/store/store.ts';
import { type AppOptions, createApp, type ServerOptions } from '../../../src/index.ts';
import { createListener } from '../../../src/server/http/listener.ts';
import { createServiceHandler } from '../../../src/server/http/service-handler.ts';
import { PendingResponses } from '../../../src/server/http/write.ts';
import { NODE_PLATFORM } from '../../../src/server/node-platform.ts';
import { MemoryPersistence } from '../../../src/server/open-sandboxes.ts';
import { serverFor } from '../../helpers/deployment.ts';
import { listen } from '../../helpers/host.ts';
import { askRaw, openRaw, rawRequest } from '../../helpers/raw.ts';
import { createSandboxes } from '../../helpers/sandboxes.ts';
import { clientAt } from '../../helpers/wire.ts';

const ERROR = { code: 'internal_error', status: 500, message: 'the mock failed because of a bug' };

/** A server that cannot read its animals, but its orders. */
async function startBroken(loadApp: () => Promise<RequestListener>): Promise<number> {
  const store = {
    ...EMPTY_STORE,
    get animals(): never {
      throw new Error('the store is broken');
    },
  };
  const sandboxes = createSandboxes({}, store);
  const persistence = new MemoryPersistence(sandboxes);
  const service = createServiceHandler(
    { sandboxes, persistence, platform: NODE_PLATFORM },
    new PendingResponses(),
  );
  const sandbox = sandboxes.default;
  const listener = createListener({ service, loadApp, sandbox, persistence });
  onTestFinished(listener.close);
  return (await listener.listen(0, '127.0.0.1')).port;
}

test('a request that fails inside gets an Error, and the next one is answered', async () => {
  const port = await startBroken(() => Promise.reject(new Error('there is no app')));
  const warned = once(process, 'warning');
  const connection = await openRaw(port);
  connection.send(rawRequest('GET', '/v1/pets/1') + rawRequest('GET', '/v1/store/orders'));
  const [failed, next] = await connection.replies(2);
  expect([failed?.status, JSON.parse(failed?.body ?? '')]).toEqual([500, ERROR]);
  expect(next).toMatchObject({ status: 200, body: '[]' });
  expect((await warned).map(String)).toEqual([expect.stringContaining('the store is broken')]);
});

test('an app that does not load gets an Error, and is loaded again for the next request', async () => {
  let loads = 0;
  const port = await startBroken(async () => {
    loads += 1;
    if (loads === 1) throw new Error('there is no Express');
    return (_request, response) => response.end('loaded');
  });
  const warned = once(process, 'warning');
  const { status, body } = await askRaw(port, rawRequest('GET', '/__mock/health'));
  expect([status, JSON.parse(body)]).toEqual([500, ERROR]);
  await warned;
  expect((await askRaw(port, rawRequest('GET', '/__mock/health'))).body).toBe('loaded');
});

const REX = '{"name":"Rex","categoryId":1}';
const CREATE = rawRequest('POST', '/v1/pets', { 'Content-Length': String(REX.length) }, REX);

test.each<[string, number, ServerOptions, string]>([
  ['once its body has arrived', 415, {}, CREATE],
  ['as it prefers', 404, {}, rawRequest('GET', '/v1/pets/1', { Prefer: 'code=404' })],
  ['after a delay', 200, { delay: 1 }, rawRequest('GET', '/v1/pets/1')],
  ['for an upstream', 502, { upstream: 'http://127.0.0.1:1/v1' }, CREATE],
])(
  'an observer that fails is a warning, and a request that is answered %s has its reply',
  async (_, status, options, request) => {
    const observe = (): never => {
      throw new Error('the observer is broken');
    };
    const { port } = await serverFor({ ...options, observe });
    const warned = once(process, 'warning');
    expect((await askRaw(port, request)).status).toBe(status);
    expect((await warned).map(String)).toEqual([expect.stringContaining('observer is broken')]);
  },
);

async function portOfApp(options: AppOptions): Promise<number> {
  const server = createServer(createApp(options));
  onTestFinished(() => void server.close());
  return listen(server);
}

const fail = (): never => {
  throw new Error('the callback is broken');
};

test.each([
  ['startServer', 'throws', fail, async (all: AppOptions) => (await serverFor(all)).port],
  ['createApp', 'throws', fail, portOfApp],
  ['createApp', 'rejects', async () => fail(), portOfApp],
])('a callback of %s that %s is a warning, and the mock goes on', async (_, _how, broken, open) => {
  const all = { onControlCall: broken, onNotice: broken, onFinding: broken, observe: broken };
  const port = await open({ ...all, sandboxIdle: 20 });
  const warned = async (count: number) => {
    const warnings: string[] = [];
    for await (const [warning] of on(process, 'warning')) {
      if (warnings.push(String(warning)) === count) return warnings;
    }
    return warnings;
  };
  const broke = expect.stringContaining('callback is broken');
  for (const [path, count] of [
    ['/__mock/clock', 1],
    // Of the exchange, of a finding, and of the removal of its sandbox, which goes on.
    ['/~idle/v1/pets?colour=red', 3],
    ['/~idle/v1/pets?colour=red', 3],
  ] as const) {
    const told = warned(count);
    await clientAt(port).send('GET', path);
    expect(await told).toEqual(Array(count).fill(broke));
  }
});
