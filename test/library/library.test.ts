import { createServer, type RequestListener } from 'node:http';
import express from 'express';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import {
  ControlError,
  connectPetstoreMock,
  createApp,
  globalSetup,
  type MockSandbox,
  startPetstoreMock,
  startServer,
} from '../../src/index.ts';
import { createTest } from '../../src/library/vitest.ts';
import { serverFor } from '../helpers/deployment.ts';
import { listen, TOKEN_HOST } from '../helpers/host.ts';

let server: Awaited<ReturnType<typeof startPetstoreMock>>;
beforeAll(async () => {
  server = await startPetstoreMock();
});
afterAll(() => server.stop());

const BIG = 9007199254740993n;

function call({ url, key }: { url: string; key: string }, path: string, init: RequestInit = {}) {
  const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
  return fetch(url + path, { ...init, headers });
}

async function statusOf(mock: { url: string; key: string }, path: string, method = 'GET') {
  return (await call(mock, path, { method })).status;
}

/** Answers on loopback until the test ends. Returns the address. */
async function serve(listener: RequestListener): Promise<string> {
  const other = createServer(listener);
  onTestFinished(() => {
    other.close();
    other.closeAllConnections();
  });
  return `http://127.0.0.1:${await listen(other)}`;
}

test('fake timers of a test runner stop neither delays nor holds of a server in its process', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const mock = server.sandbox('fake-timers');
  await mock.scenario.use({ rules: [{ on: 'listPets', delay: 5 }] });
  const latch = await mock.hold('getPet');
  const waiting = statusOf(mock, '/pets/1');
  expect(await statusOf(mock, '/pets')).toBe(200);
  await latch.arrived();
  await latch.release();
  expect(await waiting).toBe(200);
  const exchanges = await mock.requests.list();
  for (const { duration } of exchanges) expect(duration).toBeGreaterThanOrEqual(0);
});

describe('a sandbox', () => {
  test('has a working key, even as staging, unless another is given', async () => {
    for (const mock of [server, server.sandbox(), server.sandbox('staging')]) {
      expect(await statusOf(mock, '/pets')).toBe(200);
    }
    const staging = await connectPetstoreMock({ url: server.sandbox('staging').url });
    expect(await statusOf(staging, '/pets')).toBe(200);
    expect(await statusOf(staging.sandbox(), '/pets')).toBe(200);
    const own = await connectPetstoreMock({ url: staging.url, key: 'own-key' });
    expect([own, own.sandbox('staging'), own.sandbox()].map(({ key }) => key)).toEqual(
      Array(3).fill('own-key'),
    );
  });

  test('is named with letters, digits and a few signs, and is listed and deleted by its name', async () => {
    for (const name of ['', 'a b', 'a/b', 'x'.repeat(65)]) {
      expect(() => server.sandbox(name)).toThrow(TypeError);
    }
    const { name, animals } = server.sandbox('listed');
    await animals.delete(1);
    const listed = (await server.sandboxes.list()).find((it) => it.name === name);
    expect(listed).toMatchObject({ animals: 63, service: '/~listed/v1' });
    await server.sandboxes.delete(name);
    expect(await animals.count()).toBe(64);
  });

  test('holds replies back behind a latch, and waits for requests', async () => {
    const mock = server.sandbox();
    const latch = await mock.hold('getPet', { where: { petId: 1 } });
    const statuses = [1, 1, 1].map(() => statusOf(mock, '/pets/1'));
    expect(await latch.arrived(3)).toMatchObject([{ hold: { name: latch.name } }, {}, {}]);
    expect(await latch.releaseNewestFirst({ count: 1 })).toMatchObject([{ exchange: 3 }]);
    expect((await mock.holds()).map(({ exchange }) => exchange)).toEqual([1, 2]);
    await latch.release();
    expect(await Promise.all(statuses)).toEqual([200, 200, 200]);
    expect(await statusOf(mock, '/pets/1')).toBe(200);
    const exchanges = await mock.requests.wait({ operation: 'getPet' }, { atLeast: 4 });
    const released = Array(3).fill('released');
    expect(exchanges.map(({ hold }) => hold?.ended)).toEqual([...released, undefined]);
    await expect(latch.arrived(4, { within: 1 })).rejects.toThrow(
      `3 of 4 requests arrived within 1 ms: {"hold":"${latch.name}"}`,
    );
  });

  test('has a store that can be read, patched, replaced and reset', async () => {
    const { state, reset } = server.sandbox();
    const { animals } = await state.patch({
      animals: [{ id: 1, name: 'Max' }],
      orders: { remove: 'all' },
    });
    expect(animals[0]).toEqual({ id: 1, name: 'Max', categoryId: 1, status: 'available' });
    const animal = { id: BIG, name: 'Whiskers', categoryId: 2 };
    expect(await state.put({ animals: [animal] })).toEqual({
      animals: [animal],
      inventory: [],
      orders: [],
    });
    await reset();
    expect((await state.get()).orders).toHaveLength(14);
  });

  test('has bigints only for integers that a double cannot hold', async () => {
    const { animals, inventory, orders, state } = server.sandbox();
    const rex = { name: 'Rex', categoryId: BIG };
    expect(await animals.create(rex)).toEqual({ id: 65, ...rex });
    await animals.put(BIG, rex);
    const entry = { petId: BIG, quantity: 3, status: 'available' };
    await inventory.create(entry);
    expect(await inventory.get(BIG)).toEqual(entry);
    expect(await animals.list({ id: BIG })).toEqual([{ id: BIG, ...rex }]);
    expect(await animals.count({ id_gte: BIG })).toBe(1);
    await orders.put(-BIG, { petId: BIG });
    const shipped = { id: -BIG, petId: BIG, status: 'shipped' };
    expect(await orders.patch(-BIG, { status: 'shipped' })).toEqual(shipped);
    expect((await state.get()).orders.slice(0, 2)).toEqual([shipped, await orders.get(1n)]);
    await state.patch({ orders: { remove: [-BIG, 1n] } });
    expect(await orders.count()).toBe(13);
    await animals.delete(BIG);
    await expect(inventory.get(BIG)).rejects.toThrow(ControlError);
  });

  test('is under scenarios: names, a definition, or both', async () => {
    const { scenario, ...sandbox } = server.sandbox();
    expect((await scenario.list()).map(({ name }) => name)).toContain('slow');
    const failing = { rules: [{ on: 'listPets', calls: 1, reply: { status: 503 } }] } as const;
    const active = await scenario.use('shipped-orders', failing);
    expect(active.map(({ name }) => name)).toEqual(['shipped-orders', 'request']);
    expect(await statusOf(sandbox, '/pets')).toBe(503);
    expect(await statusOf(sandbox, '/pets')).toBe(200);
    expect(await statusOf(sandbox, '/store/orders/1', 'DELETE')).toBe(409);
    expect(await scenario.use()).toEqual([]);
    expect(await scenario.get()).toEqual([]);
    await expect(scenario.use({}, {})).rejects.toThrow(TypeError);
  });

  test('keeps scenarios of its own, saved as objects and as text', async () => {
    const { scenario, scenarios, ...sandbox } = server.sandbox();
    const text = 'extends: base\nrules: [{ on: getPet, reply: { status: 410 } }]\n';
    await scenarios.save('base', { state: { animals: { remove: [1] } } });
    expect(await scenarios.save('top', text)).toMatchObject({ name: 'top', own: true });
    expect(await scenarios.text('top')).toBe(text);
    await scenario.use('top');
    expect(await statusOf(sandbox, '/pets/1')).toBe(410);
    await scenarios.delete('top');
    const own = (await scenarios.list()).filter((it) => it.own);
    expect(own.map(({ name }) => name)).toEqual(['base']);
  });

  test('has assumptions of its own', async () => {
    const { assume, assumptions, ...sandbox } = server.sandbox();
    await assume({ 'unknown-pet': '400' });
    expect(await assumptions()).toContainEqual(
      expect.objectContaining({ id: 'unknown-pet', chosen: '400', default: '404' }),
    );
    expect(await statusOf(sandbox, '/pets/99')).toBe(400);
  });

  test('passes its requests to a deployment until that is removed', async () => {
    const { upstream, ...sandbox } = server.sandbox();
    const { url } = server.sandbox();
    const basis = async () => (await call(sandbox, '/pets')).headers.get('mock-basis');
    expect(await upstream.set({ url })).toEqual({ url, ownKey: false });
    expect(await basis()).toBe('upstream');
    await upstream.remove();
    expect(await upstream.get()).toEqual({ ownKey: false });
    expect(await basis()).toBe('documented');
  });

  test('has a clock that can be frozen, moved and set', async () => {
    const { clock } = server.sandbox();
    expect(await clock.freeze(new Date('2030-12-01T00:00:00Z'))).toEqual({
      now: '2030-12-01T00:00:00.000Z',
      frozen: true,
      real: false,
    });
    expect((await clock.advance('P5D')).now).toBe('2030-12-06T00:00:00.000Z');
    expect((await clock.freeze()).now).toBe('2030-12-06T00:00:00.000Z');
    expect((await clock.set({ now: '2030-01-01T00:00:00Z' })).frozen).toBe(true);
    await clock.set({ real: true });
    expect(await clock.get()).toMatchObject({ real: true, frozen: false });
  });

  test('has a journal that can be listed, counted and cleared', async () => {
    const { requests, ...sandbox } = server.sandbox();
    await call(sandbox, '/pets/1');
    await call(sandbox, '/store/orders/2', { method: 'DELETE' });
    expect(await requests.list({ operation: 'cancelOrder', limit: 5 })).toMatchObject([
      { number: 2, method: 'DELETE', status: 409, why: ['order 2 has shipped'], key: 'demo…' },
    ]);
    expect(await requests.count({ status: 409 })).toBe(1);
    await requests.clear();
    expect(await requests.count()).toBe(0);
  });

  test('follows its requests until it is deleted, or the signal aborts', async () => {
    const mock = server.sandbox();
    const followed: [string[], string[]] = [[], []];
    const follow = async (targets: string[], signal?: AbortSignal) => {
      for await (const { target } of mock.requests.follow({ status: 404 }, signal)) {
        targets.push(target);
      }
    };
    const abort = new AbortController();
    const following = [follow(followed[0]), follow(followed[1], abort.signal)];
    // A stream begins with the first exchange after it was opened.
    const fewest = async () => {
      await call(mock, '/pets/99');
      return Math.min(...followed.map((targets) => targets.length));
    };
    await expect.poll(fewest).toBeGreaterThan(0);
    abort.abort();
    await expect(following[1]).rejects.toThrow('abort');
    await server.sandboxes.delete(mock.name);
    await following[0];
    expect(new Set(followed.flat())).toEqual(new Set([`/~${mock.name}/v1/pets/99`]));
  });

  test('does not count requests if dropped ones could change the count', async () => {
    await using mock = await startPetstoreMock({ journal: 1 });
    await call(mock, '/pets');
    expect(await mock.requests.count()).toBe(1);
    await call(mock, '/pets');
    await expect(mock.requests.count()).rejects.toThrow(/at least 1 .* larger journal/);
  });
});

test('reports cover one sandbox, or all sandboxes including deleted ones', async () => {
  await using own = await startPetstoreMock();
  const sandbox = own.sandbox();
  await call(sandbox, '/pets/1');
  await own.sandboxes.delete(sandbox.name);
  await call(own, '/pets');
  const counts = async (mock: MockSandbox) => [
    (await mock.coverage()).totals.documented.shown,
    (await mock.coverage({ all: true })).totals.documented.shown,
    (await mock.findings()).total,
    (await mock.findings({ all: true })).total,
  ];
  expect(await counts(own)).toEqual([1, 2, 0, 1]);
  await own.reset();
  expect(await counts(own)).toEqual([0, 2, 0, 1]);
  await call(own.sandbox('named'), '/store/orders');
  const named = await connectPetstoreMock({ url: own.sandbox('named').url });
  expect(await counts(named)).toEqual([1, 3, 0, 1]);
});

test('a refused call throws the message, status and code of the server, and the call', async () => {
  const { name, orders } = server.sandbox();
  const refused = orders.get(99);
  await expect(refused).rejects.toBeInstanceOf(ControlError);
  await expect(refused).rejects.toMatchObject({
    name: 'ControlError',
    status: 404,
    code: 'order_not_found',
    message: 'there is no order with the id 99',
    call: `GET ${new URL(server.url).origin}/~${name}/__mock/orders/99`,
  });
});

test('the name of a sandbox or of a snapshot cannot change the path of a call', async () => {
  const { snapshots } = server.sandbox();
  await snapshots.create('kept');
  expect(await snapshots.list()).toMatchObject([{ name: 'kept', animals: 64 }]);
  await expect(server.sandboxes.delete('../orders/1')).rejects.toThrow(TypeError);
  await expect(snapshots.delete('../orders/1')).rejects.toThrow(ControlError);
  await expect(snapshots.restore('kept/restore?')).rejects.toThrow(ControlError);
  expect(await server.orders.get(1)).toMatchObject({ id: 1 });
});

describe('a server', () => {
  test('on another host is controlled with its token', async () => {
    const keys = { valid: ['other-key'] };
    const options = { host: TOKEN_HOST, port: 0, controlToken: 'secret', keys };
    const { port, close } = await startServer(options);
    onTestFinished(close);
    const url = `http://127.0.0.1:${port}/~own/v1/`;
    for (const token of [undefined, 'wrong']) {
      await expect(connectPetstoreMock({ url, token })).rejects.toMatchObject({
        status: 401,
        code: 'unauthorized',
        message: expect.stringMatching(/token.*; pass it to connectPetstoreMock as `token`$/),
      });
    }
    const remote = await connectPetstoreMock({ url, token: 'secret', key: 'other-key' });
    expect(remote.name).toBe('own');
    expect(await remote.sandbox().animals.count()).toBe(64);
    await remote.stop();
    expect(await statusOf(remote, '/pets')).toBe(200);
  });

  test('mounted in another app can be controlled', async () => {
    const app = express();
    app.use('/backend', createApp());
    const site = await serve(app);
    const mock = await connectPetstoreMock({ url: `${site}/backend/~own/v1` });
    expect(mock.url).toBe(`${site}/backend/~own/v1`);
    expect(mock.sandbox('x').url).toBe(`${site}/backend/~x/v1`);
    await mock.orders.delete(1);
    expect(await statusOf(mock, '/store/orders/1', 'DELETE')).toBe(404);
  });

  test('that is not running causes a clear error', async () => {
    const stopped = await startPetstoreMock({ keys: { valid: ['my-key'] } });
    const { url, key } = stopped;
    expect(key).toBe('my-key');
    await Promise.all([stopped.stop(), stopped[Symbol.asyncDispose]()]);
    await stopped.stop();
    const gone = /^no petstore-mock answers at http:\/\/127\.0\.0\.1:\d+\/__mock: is it running\?$/;
    await expect(connectPetstoreMock({ url })).rejects.toThrow(gone);
    await expect(stopped.state.get()).rejects.toMatchObject({
      message: expect.stringMatching(gone),
      cause: expect.any(Error),
    });
  });

  test('that is not a mock, or has no control API, causes a clear error', async () => {
    await expect(connectPetstoreMock({ url: 'localhost' })).rejects.toThrow(TypeError);
    await expect(startPetstoreMock({ noControl: true })).rejects.toThrow(TypeError);
    await expect(globalSetup({ noControl: true })()).rejects.toThrow(TypeError);
    for (const status of [200, 404]) {
      const url = await serve((_request, response) => response.writeHead(status).end('<p>Hello'));
      await expect(connectPetstoreMock({ url })).rejects.toThrow(
        / got \d+ from something other than petstore-mock: is the URL right\?$/,
      );
    }
    const { url } = await serverFor({ noControl: true });
    await expect(connectPetstoreMock({ url })).rejects.toThrow(
      /is it a petstore-mock without --no-control\?$/,
    );
  });

  test.each([
    ['{"maxHold":-1}', 'maxHold: expected milliseconds from 1 to a day, found -1'],
    ['{"sandboxIdle":0}', 'sandboxIdle: expected milliseconds, at least 1, found 0'],
    [
      '{"assume":{"cancel-agin":"404"}}',
      'assume: expected an assumption that "petstore-mock assumptions" lists, found "cancel-agin" (did you mean cancel-again?)',
    ],
    ['{"seed":"x"}', 'seed: expected an integer from -2147483648 to 2147483647, found "x"'],
    ['{"delay":-5}', 'delay: expected an integer from 0 to 300000, found -5'],
    ['{"keys":"ab"}', 'keys: expected an object, found "ab"'],
    ['{"keys":{"valid":"ab"}}', 'keys valid: expected an array, found "ab"'],
    ['{"sed":1}', 'options: expected the name of an option, found "sed" (did you mean seed?)'],
    ['{"observe":1}', 'observe: expected a function, found 1'],
    ['{"clock":"2030-12-06"}', 'clock: expected milliseconds since 1970, found "2030-12-06"'],
  ])('does not start with %s', async (json, message) => {
    const options = JSON.parse(json);
    const error = new RangeError(message);
    await expect(startPetstoreMock(options)).rejects.toThrow(error);
    expect(() => createApp(options)).toThrow(error);
    expect(() => createTest(options)).toThrow(error);
    expect(() => globalSetup(options)).toThrow(error);
  });

  test.each([
    [{ db: 'x', shared: 'redis://127.0.0.1' }, 'db and shared'],
    [{ shared: 'redis://127.0.0.1', watch: true }, 'watch and shared'],
    [{ fixture: 'default', animals: 5 }, 'animals and fixture'],
  ])('does not start with %j, which exclude each other', async (options, both) => {
    const error = new RangeError(`${both} exclude each other: drop one of them`);
    // @ts-expect-error: the types exclude it, too
    await expect(startServer(options)).rejects.toThrow(error);
  });

  test('takes no option that an app has no use for', () => {
    const options = { scenarios: ['slow'] };
    // @ts-expect-error: the types exclude it, too
    expect(() => createApp(options)).toThrow('expected the name of an option, found "scenarios"');
  });

  test('is controlled even if a test replaces fetch', async () => {
    vi.spyOn(globalThis, 'fetch').mockRejectedValue(new Error('no network'));
    expect(await server.sandbox().animals.count()).toBe(64);
  });
});

describe('the server of a run', () => {
  const NAMES = ['URL', 'KEY', 'CONTROL_URL', 'CONTROL_TOKEN'].map((it) => `PETSTORE_MOCK_${it}`);
  const variables = () => NAMES.map((name) => process.env[name]);

  test('is in the environment until it stops', async () => {
    for (const name of NAMES) vi.stubEnv(name, undefined);
    vi.stubEnv('PETSTORE_MOCK_URL', '');
    const stop = await globalSetup({ keys: { valid: ['my-key'] }, scenarios: ['no-orders'] })();
    const [url = '', key, ...others] = variables();
    expect([key, ...others]).toEqual(['my-key', new URL('/__mock', url).href, undefined]);
    const mock = await connectPetstoreMock({ url, key });
    expect(await mock.orders.count()).toBe(0);
    await stop();
    expect(variables()).toEqual([undefined, undefined, undefined, undefined]);
    await expect(mock.orders.count()).rejects.toThrow('no petstore-mock answers');
  });

  test('is the one already running, which keeps running', async () => {
    for (const name of NAMES) vi.stubEnv(name, undefined);
    vi.stubEnv('PETSTORE_MOCK_URL', server.url);
    const stop = await globalSetup()();
    expect(variables()).toEqual([server.url, undefined, undefined, undefined]);
    await stop();
    expect(variables()).toEqual([server.url, undefined, undefined, undefined]);
    expect(await statusOf(server, '/pets')).toBe(200);
  });
});
