import { setImmediate } from 'node:timers/promises';
import { describe, expect, test, vi } from 'vitest';
import { createStart } from '../../../src/core/sandbox/start.ts';
import { EMPTY_STORE } from '../../../src/core/store/store.ts';
import { NODE_PLATFORM } from '../../../src/server/node-platform.ts';
import { openSandboxes } from '../../../src/server/open-sandboxes.ts';
import { serverFor } from '../../helpers/deployment.ts';
import { drawRequests } from '../../helpers/drawn-requests.ts';
import { openMock } from '../../helpers/in-process.ts';
import { openRaw, rawRequest } from '../../helpers/raw.ts';
import { createSandboxes } from '../../helpers/sandboxes.ts';
import { type Ask, asker, type Client, clientAt, fixtureFile } from '../../helpers/wire.ts';

/** Sends a request to a path that may name a sandbox. */
const ask = (port: number, ...sent: Parameters<Ask>) => asker(port, '')(...sent);

async function listNames({ control }: Client): Promise<string[]> {
  const { json } = await control('GET sandboxes');
  return Object(json).map(({ name }: { name: string }) => name);
}

test('a sandbox that nobody uses is removed in the log, and its coverage stays', async () => {
  const notices: string[] = [];
  const { port, coverage } = await serverFor({
    sandboxIdle: 100,
    onNotice: (notice) => notices.push(notice),
  });
  await ask(port, 'GET', '/~idle/v1/store/orders');
  await ask(port, 'POST', '/__mock/sandboxes', { body: { name: 'unused' } });
  await ask(port, 'GET', '/~staging/v1/pets', { key: 'staging-key' });
  await expect.poll(() => notices.length).toBe(2);
  expect(notices.join()).toMatch(/^removed sandbox idle: .*,removed sandbox unused: /);
  expect(await listNames(clientAt(port))).toEqual(['default', 'staging']);
  const shown = coverage().documented.find(
    (it) => it.operation === 'listOrders' && it.status === 200,
  );
  expect(shown?.count).toBe(1);
});

test('a sandbox is in use while the body of a call arrives', async () => {
  const notices: string[] = [];
  const onNotice = (notice: string) => notices.push(notice);
  const { port } = await serverFor({ sandboxIdle: 50, onNotice });
  const [one, other] = [await openRaw(port), await openRaw(port)];
  const head = { 'Content-Type': 'application/json', 'Content-Length': '29' };
  one.send(rawRequest('POST', '/~slow/v1/pets', head));
  await ask(port, 'POST', '/__mock/sandboxes', { body: { name: 'slower' } });
  other.send(rawRequest('PATCH', '/~slower/__mock/state', { ...head, 'Content-Length': '2' }));
  await ask(port, 'POST', '/__mock/sandboxes', { body: { name: 'unused' } });
  await expect.poll(() => notices.join()).toContain('removed sandbox unused');
  await ask(port, 'POST', '/__mock/sandboxes', { body: { name: 'unused' } });
  await expect.poll(() => notices.length).toBe(2);
  expect(await listNames(clientAt(port))).toEqual(expect.arrayContaining(['slow', 'slower']));
  one.send('{"name":"Rex","categoryId":1}');
  expect((await one.reply()).status).toBe(201);
  other.socket.destroy();
  await expect.poll(() => notices.join()).toContain('removed sandbox slower');
});

test.each([
  ['held', { hold: true }],
  ['delayed', { delay: 4_000 }],
])('a sandbox whose client waits for a %s reply is in use', async (name, effect) => {
  const [notices, seen]: [string[], string[]] = [[], []];
  const { port } = await serverFor({
    sandboxIdle: 100,
    scenarios: [fixtureFile({ rules: [{ on: 'listPets', ...effect }] })],
    onNotice: (notice) => notices.push(notice),
    observe: (sandbox) => seen.push(sandbox),
  });
  const waiting = await openRaw(port);
  waiting.send(rawRequest('GET', `/~${name}/v1/pets`));
  await expect.poll(() => seen).toEqual([name]);
  await ask(port, 'GET', '/~later/v1/store/orders');
  await expect.poll(() => notices.length).toBe(1);
  waiting.socket.destroy();
  expect(notices.join()).toMatch(/^removed sandbox later: [^,]*$/);
  await expect.poll(() => notices.length).toBe(2);
  expect(notices[1]).toMatch(new RegExp(`^removed sandbox ${name}: `));
});

describe('a sandbox', () => {
  test('is taken from the path before the key, and from the key before the header', async () => {
    const { send } = await openMock();
    const headers = { 'Mock-Sandbox': 'header' };
    const named = { key: 'demo-key~key', headers };
    expect((await send('DELETE', '/~path/v1/store/orders/1', named)).status).toBe(204);
    expect((await send('DELETE', '/v1/store/orders/1', named)).status).toBe(204);
    expect((await send('DELETE', '/v1/store/orders/1', { headers })).status).toBe(204);
    for (const name of ['path', 'key', 'header']) {
      expect((await send('DELETE', `/~${name}/v1/store/orders/1`)).status).toBe(409);
    }
  });

  test('named default is the one that requests without a name use', async () => {
    const { send } = await openMock();
    expect((await send('DELETE', '/~default/v1/store/orders/1')).status).toBe(204);
    expect((await send('DELETE', '/v1/store/orders/1')).status).toBe(409);
  });

  test('has a rate limit of its own', async () => {
    const { send } = await openMock({ assume: { 'rate-limit': '1/m' } });
    const paths = ['/v1/pets', '/v1/pets', '/~one/v1/pets', '/~one/v1/pets'];
    const statuses: number[] = [];
    for (const path of paths) statuses.push((await send('GET', path)).status);
    expect(statuses).toEqual([200, 429, 200, 429]);
  });

  test('accepts a key that contains a ~', async () => {
    const { send } = await openMock({ keys: { valid: ['a~b'] } });
    expect((await send('DELETE', '/v1/store/orders/1', { key: 'a~b' })).status).toBe(204);
    expect((await send('DELETE', '/v1/store/orders/1', { key: 'a~b' })).status).toBe(409);
    expect((await send('DELETE', '/v1/store/orders/1', { key: 'a~b~c' })).status).toBe(204);
  });

  test.each(['a b', '', '.', '..', 'x'.repeat(65), 'ä', '..%2f', 'a!'])(
    'cannot be named %j, in path, key or header',
    async (name) => {
      const { send } = await openMock();
      const bytes = Buffer.from(name).toString('latin1');
      const path = `/~${encodeURI(name)}`;
      for (const answer of [
        await send('GET', '/v1/pets', { headers: { 'Mock-Sandbox': bytes } }),
        await send('GET', '/v1/pets', { key: `demo-key~${bytes}` }),
        await send('GET', `${path}/v1/pets`),
        await send('GET', `${path}/__mock/state`),
        await send('GET', `${path}/__mock/health`),
        await send('GET', '/~one/v1/pets', { key: `demo-key~${bytes}` }),
        await send('GET', '/~one/v1/pets', { headers: { 'Mock-Sandbox': bytes } }),
      ]) {
        expect(answer).toMatchObject({
          status: 400,
          json: {
            code: 'sandbox_name_invalid',
            message: expect.stringContaining('expected 1 to 64 of a-z A-Z 0-9 . _ -'),
          },
        });
      }
    },
  );

  test('is not created by requests without a valid key, which the default one records', async () => {
    const client = await openMock({ maxSandboxes: 1 });
    const { send, control } = client;
    for (const name of ['one', 'two', 'three']) {
      expect((await send('GET', `/~${name}/v1/pets`, { key: 'wrong' })).status).toBe(401);
      expect((await send('GET', '/v1/pets', { key: `wrong~${name}` })).status).toBe(401);
      expect((await send('OPTIONS', `/~${name}/v1/pets`, { key: 'no' })).status).toBe(204);
      expect((await send('GET', `/~${name}/v1/no`, { key: 'no' })).status).toBe(404);
    }
    expect(await listNames(client)).toEqual(['default', 'staging']);
    expect((await send('GET', '/~three/v1/pets')).status).toBe(200);
    expect(await listNames(client)).toEqual(['default', 'staging', 'three']);
    const journal = await send('GET', '/__mock/requests?status=401');
    expect(Object(journal.json).exchanges.map(({ target }: { target: string }) => target)).toEqual(
      ['one', 'two', 'three'].flatMap((name) => [`/~${name}/v1/pets`, '/v1/pets']),
    );
    const { documented } = Object((await control('GET coverage')).json);
    expect(documented).toContainEqual(
      expect.objectContaining({ operation: 'listPets', status: 401, count: 6 }),
    );
  });

  test('must be named if the server requires it', async () => {
    const { send } = await openMock({ sandboxRequired: true });
    const answer = await send('GET', '/v1/pets');
    expect(answer).toMatchObject({ status: 400, json: { code: 'sandbox_required' } });
    expect((await send('GET', '/~one/v1/pets')).status).toBe(200);
    expect((await send('GET', '/~staging/v1/pets', { key: 'staging-key' })).status).toBe(200);
  });

  test('is not created beyond the limit, and none is dropped', async () => {
    const { send } = await openMock({ maxSandboxes: 2 });
    expect((await send('DELETE', '/~one/v1/store/orders/1')).status).toBe(204);
    expect((await send('GET', '/~two/v1/pets')).status).toBe(200);
    const created = await send('POST', '/__mock/sandboxes', { body: { name: 'three' } });
    for (const answer of [await send('GET', '/~three/v1/pets'), created]) {
      expect(answer).toMatchObject({ status: 503, json: { code: 'too_many_sandboxes' } });
      // It does not help to wait.
      expect(answer.headers).not.toHaveProperty('retry-after');
    }
    expect((await send('DELETE', '/~one/v1/store/orders/1')).status).toBe(409);
    expect((await send('GET', '/~staging/v1/pets', { key: 'staging-key' })).status).toBe(200);
  });
});

test('concurrent clients in their own sandboxes get the replies that each gets alone', async () => {
  const { send } = await openMock();
  const replies = async (client: number, sandbox: string): Promise<string[]> => {
    const all: string[] = [];
    for (const { method, path, ...sent } of drawRequests(client, 25)) {
      const { status, text } = await send(method, `/~${sandbox}/v1${path}`, sent);
      all.push(`${method} ${path} gets ${status}: ${text.replaceAll(sandbox, '')}`);
    }
    return all;
  };
  const clients = Array.from({ length: 30 }, (_, index) => index);
  const together = await Promise.all(clients.map((it) => replies(it, `together-${it}`)));
  for (const client of clients) {
    expect(together[client]).toEqual(await replies(client, `alone-${client}`));
  }
});

test('a call that has ended twice leaves another one under way', () => {
  const sandboxes = createSandboxes();
  const sandbox = sandboxes.getOrCreate('twice');
  const [end] = [sandbox.beginCall(), sandbox.beginCall()];
  end();
  end();
  expect(sandbox.unused).toBe(0);
});

test('of sandboxes that were only read, the latest 100 are kept, and a listener of another is told', () => {
  const sandboxes = createSandboxes();
  const before = sandboxes.all().length;
  const told: string[] = [];
  const viewed = Array.from({ length: 101 }, (_, at) => {
    const sandbox = sandboxes.view(`viewed-${at}`);
    sandbox.subscribe(({ kind }) => void told.push(`${sandbox.name} ${kind}`));
    return sandbox;
  });
  expect(told).toEqual(['viewed-0 deleted']);
  expect(sandboxes.all().length - before).toBe(100);
  expect(sandboxes.view('viewed-1')).toBe(viewed[1]);
  expect(sandboxes.view('viewed-0')).not.toBe(viewed[0]);
});

test('idle sandboxes are looked for once at a time, and again after the storage has failed', async () => {
  let look = (): void => {};
  const every = (_milliseconds: number, act: () => void) => {
    look = act;
    return () => {};
  };
  const start = createStart({ sandboxIdle: 100 }, EMPTY_STORE);
  const { persistence } = openSandboxes({ start, platform: { ...NODE_PLATFORM, every } }, {});
  let fail = (_error: Error): void => {};
  const unused = vi.spyOn(persistence, 'unused').mockImplementation(
    () =>
      new Promise((_resolve, reject) => {
        fail = reject;
      }),
  );
  look();
  look();
  expect(unused).toHaveBeenCalledTimes(1);
  fail(new Error('The storage is away.'));
  await setImmediate();
  look();
  expect(unused).toHaveBeenCalledTimes(2);
});
