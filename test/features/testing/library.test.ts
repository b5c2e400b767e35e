import { createServer, globalAgent, type RequestListener } from 'node:http';
import express from 'express';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { createTest } from '../../../src/features/testing/vitest.ts';
import {
  connectPetstoreMock,
  createApp,
  DroppedExchangesError,
  globalSetup,
  startPetstoreMock,
  startServer,
} from '../../../src/index.ts';
import { serverFor } from '../../helpers/deployment.ts';
import { listen, TOKEN_HOST } from '../../helpers/host.ts';
import { runInProcess } from '../../helpers/invocation.ts';

let server: Awaited<ReturnType<typeof startPetstoreMock>>;
beforeAll(async () => {
  server = await startPetstoreMock();
});
afterAll(() => server.stop());

const _BIG = 9007199254740993n;

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
    await expect(server.sandboxes.delete('../orders/1')).rejects.toThrow(TypeError);
    const { name, animals } = server.sandbox('listed');
    await animals.delete(1);
    const listed = (await server.sandboxes.list()).find((it) => it.name === name);
    expect(listed).toMatchObject({ animals: 63, service: '/~listed/v1' });
    await server.sandboxes.delete(name);
    expect(await animals.count()).toBe(64);
  });

  test('takes at most one definition of a scenario', async () => {
    await expect(server.sandbox().scenario.use({}, {})).rejects.toThrow(TypeError);
  });

  test('says how many requests arrived in time', async () => {
    const { hold } = server.sandbox();
    const latch = await hold('getPet');
    await expect(latch.arrived(4, { within: 1 })).rejects.toThrow(
      `0 of 4 requests arrived within 1 ms: {"hold":"${latch.name}"}`,
    );
  });

  test('tells of exchanges that its journal dropped, where they matter', async () => {
    await using mock = await startPetstoreMock({ journal: 2 });
    await call(mock, '/pets');
    await call(mock, '/pets');
    expect(await mock.requests.count()).toBe(2);
    for (let more = 0; more < 3; more += 1) await call(mock, '/pets');
    await expect(mock.requests.count()).rejects.toThrow(/at least 2 .* larger journal/);
    const following = mock.requests.follow({ after: 1 }).next();
    await expect(following).rejects.toBeInstanceOf(DroppedExchangesError);
    await expect(following).rejects.toMatchObject({ count: 2 });
  });
});

/** What Node's `fetch` sends requests through: under NODE_USE_ENV_PROXY, to a proxy. */
const DISPATCHER = Symbol.for('undici.globalDispatcher.1');

test('calls to this machine pass no proxy', async () => {
  const before = Reflect.get(globalThis, DISPATCHER);
  onTestFinished(() => void Reflect.set(globalThis, DISPATCHER, before));
  const toProxy = vi.fn(() => {
    throw new Error('sent to the proxy');
  });
  vi.spyOn(globalAgent, 'createConnection').mockImplementation(toProxy);
  Reflect.set(globalThis, DISPATCHER, { dispatch: toProxy });
  const mock = await connectPetstoreMock({ url: server.url });
  await mock.sandbox().scenario.use('slow');
  const port = new URL(server.url).port;
  expect(await runInProcess(['health', '--port', port])).toMatchObject({ code: 0 });
  expect(await runInProcess(['ctl', 'clock', '--url', server.url])).toMatchObject({ code: 0 });
  expect(toProxy).not.toHaveBeenCalled();
});

describe('a server', () => {
  test('on another host is controlled with its token', async () => {
    const keys = { valid: ['other-key'] };
    const options = { host: TOKEN_HOST, port: 0, controlToken: 'secret', keys };
    const { port, close } = await startServer(options);
    onTestFinished(close);
    const url = `http://127.0.0.1:${port}/~own/v1/`;
    await expect(connectPetstoreMock({ url, token: 'wrong' })).rejects.toThrow(
      /token.*; pass it as `token`, or with --token$/,
    );
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

  test('without an address or a control API causes a clear error', async () => {
    await expect(connectPetstoreMock({ url: 'localhost' })).rejects.toThrow(TypeError);
    await expect(startPetstoreMock({ noControl: true })).rejects.toThrow(TypeError);
    await expect(globalSetup({ noControl: true })()).rejects.toThrow(TypeError);
    const { url } = await serverFor({ noControl: true });
    await expect(connectPetstoreMock({ url })).rejects.toThrow(
      /is it a petstore-mock without --no-control\?$/,
    );
  });

  // biome-ignore format: a row for each
  test.each([
    ['{"maxHold":-1}', 'maxHold: expected milliseconds from 1 to a day, found -1'],
    ['{"assume":{"cancel-agin":"404"}}', 'assume: expected an assumption that "petstore-mock assumptions" lists, found "cancel-agin" (did you mean cancel-again?)'],
    ['{"assume":{"cancel-again":404}}', 'assume cancel-again: expected a string such as "404", found 404'],
    ['{"keys":{"expires":{"demo-key":"PT1M"}}}', 'keys expires: expected a Map of times by key, found an object'],
    ['{"seed":"x"}', 'seed: expected an integer from -2147483648 to 2147483647, found "x"'],
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
    [{ db: 'x', shared: 'redis://127.0.0.1' }, 'shared and db'],
    [{ shared: 'redis://127.0.0.1', watch: true }, 'shared and watch'],
    [{ fixture: 'default', animals: 5 }, 'animals and fixture'],
  ])('does not start with %j, which exclude each other', async (options, both) => {
    const error = new RangeError(`${both} exclude each other: drop one of them`);
    // @ts-expect-error: the types exclude it, too
    await expect(startServer(options)).rejects.toThrow(error);
  });

  test('does not start with keys that expire at no time', async () => {
    const expires = new Map([['demo-key', { kind: 'at', instant: '2030-12-06' }]]);
    // @ts-expect-error: the types exclude it, too
    const starting = startServer({ keys: { expires } });
    await expect(starting).rejects.toThrow(
      new RangeError(
        'keys expires demo-key instant: expected milliseconds since 1970, found "2030-12-06"',
      ),
    );
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
