import { afterAll, afterEach, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { type ServerOptions, startServer } from '../../../src/index.ts';
import type { RunningServer } from '../../../src/server/server.ts';
import { CutProxy } from '../../helpers/cut-proxy.ts';
import { rawDeployment } from '../../helpers/deployment.ts';
import { describeWithRedis, RedisServer } from '../../helpers/redis.ts';
import { type Answer, type Ask, asker } from '../../helpers/wire.ts';

const UPSTREAM = 'http://pets.example/v1';

/** Databases of a Redis, one for each test. */
const DATABASES = 32;

describeWithRedis('a fleet', () => {
  let redis: RedisServer;
  let database = 0;
  const running: RunningServer[] = [];
  beforeAll(async () => {
    redis = await RedisServer.start('--databases', String(DATABASES));
  });
  afterEach(async () => {
    await Promise.all(running.splice(0).map((server) => server.close()));
    database += 1;
  });
  afterAll(() => redis.end());

  async function join(options: ServerOptions = {}, port = redis.port): Promise<RunningServer> {
    const shared = `redis://127.0.0.1:${port}/${database}`;
    const server = await startServer({
      port: 0,
      drain: 0,
      ...options,
      db: undefined,
      watch: undefined,
      shared,
    });
    running.push(server);
    return server;
  }

  /** Clients of so many new servers, in turn. */
  async function clients(count: number, options: ServerOptions = {}): Promise<Ask> {
    const asks: Ask[] = [];
    for (let index = 0; index < count; index += 1) asks.push(asker((await join(options)).port, ''));
    let turn = 0;
    return (...asked) => {
      turn += 1;
      const ask = asks[turn % count];
      if (ask === undefined) throw new Error('no server');
      return ask(...asked);
    };
  }

  const times = <T>(count: number, ask: () => Promise<T>): Promise<T[]> =>
    Promise.all(Array.from({ length: count }, ask));

  test('cancels an order once and assigns an id once, whichever servers are asked at once', async () => {
    const ask = await clients(3);
    const cancelled = await times(24, () => ask('DELETE', '/v1/store/orders/1'));
    expect(cancelled.filter(({ status }) => status === 204)).toHaveLength(1);
    const body = { name: 'Rex', categoryId: 1 };
    const created = await times(24, () => ask('POST', '/v1/pets', { body }));
    const ids = created.map(({ json }) => Object(json).id);
    expect(new Set(ids).size).toBe(24);
    for (const id of ids) expect((await ask('GET', `/v1/pets/${id}`)).status).toBe(200);
  });

  test('loses the connections of a server that closes', async () => {
    const connections = async () =>
      (await redis.command('CLIENT', 'LIST')).trim().split('\n').length;
    const onlyThisTest = () => expect.poll(connections).toBe(1);
    await onlyThisTest();
    const server = await startServer({ port: 0, shared: redis.url, drain: 0 });
    expect(await connections()).toBeGreaterThan(1);
    await server.close();
    await onlyThisTest();
  });

  test('releases at any server what all of them hold back, and resets it too', async () => {
    const ask = await clients(2);
    const hold = { body: { on: 'getPet', where: { petId: [1, 2, 3, 4] }, hold: 'pets' } };
    const held = async () => {
      await ask('POST', '/__mock/holds', hold);
      const calls = [1, 2, 3, 4].map((id) => ask('GET', `/v1/pets/${id}`));
      const wait = { hold: 'pets', held: true, atLeast: 4, within: 'PT30S' };
      const { json } = await ask('POST', '/__mock/requests/count', { body: wait });
      expect(json).toEqual({ count: 4, complete: true });
      return calls;
    };
    const statuses = async (calls: ReturnType<Ask>[]) =>
      (await Promise.all(calls)).map(({ status }) => status);
    const ended = async () => {
      const { exchanges } = Object((await ask('GET', '/__mock/requests?hold=pets')).json);
      return exchanges.map((it: { hold: { ended?: string } }) => it.hold.ended);
    };
    const first = await held();
    const released = await ask('POST', '/__mock/holds/release', { body: { open: true } });
    expect(released.json).toMatchObject({ released: Array(4).fill({ name: 'pets' }), held: 0 });
    expect(await statuses(first)).toEqual([200, 200, 200, 200]);
    expect(await ended()).toEqual(Array(4).fill('released'));
    const second = await held();
    await ask('POST', '/__mock/reset', { body: { keep: ['journal'] } });
    expect(await statuses(second)).toEqual([200, 200, 200, 200]);
  });

  test.each([
    ['near', 0, 0],
    ['far from Redis, one farther', 5, 40],
  ])('releases each held reply once, of servers that are %s', async (_where, ...delays) => {
    const ROUNDS = 4;
    const CALLS = 10;
    const proxies = await Promise.all(delays.map(() => CutProxy.start(redis.port)));
    onTestFinished(() => {
      for (const proxy of proxies) proxy.close();
    });
    const asks: Ask[] = [];
    for (const { port } of proxies) asks.push(asker((await join({}, port)).port, ''));
    const [first, second] = asks;
    if (first === undefined || second === undefined) throw new Error('no servers');
    await first('POST', '/__mock/holds', { body: { on: 'getPet', hold: 'pets' } });
    for (const [index, delay] of delays.entries()) {
      const proxy = proxies[index];
      if (proxy !== undefined) proxy.delay = delay;
    }
    for (let round = 1; round <= ROUNDS; round += 1) {
      const calls = asks.flatMap((ask) =>
        Array.from({ length: CALLS }, () => ask('GET', '/v1/pets/1')),
      );
      const wait = { hold: 'pets', atLeast: round * calls.length, within: 'PT30S' };
      await second('POST', '/__mock/requests/count', { body: wait });
      const releases = await Promise.all(
        calls.map((_, index) => {
          const body = { name: 'pets', count: 1, newestFirst: index % 3 === 0 };
          return (index % 2 === 0 ? first : second)('POST', '/__mock/holds/release', { body });
        }),
      );
      // Those that a slow machine confirms late are not listed, but none is listed twice.
      const released = releases.flatMap(({ json }) => Object(json).released);
      const numbers = new Set(released.map(({ exchange }) => exchange));
      expect(numbers.size).toBe(released.length);
      const { json } = await first('GET', '/__mock/holds');
      expect(json).toEqual([]);
      expect((await Promise.all(calls)).map(({ status }) => status)).toEqual(calls.map(() => 200));
    }
  });

  test('sends what it holds back when its sandbox is deleted elsewhere, or when it closes', async () => {
    const [one, two] = [await join(), await join()];
    const [ask, other] = [asker(one.port, ''), asker(two.port, '')];
    const held = async (base: string) => {
      await other('POST', `${base}/__mock/holds`, { body: { on: 'listPets', hold: true } });
      const listed = ask('GET', `${base}/v1/pets`);
      await other('POST', `${base}/__mock/requests/count`, { body: { held: true, atLeast: 1 } });
      return { listed };
    };
    const deleted = await held('/~mine');
    await other('DELETE', '/__mock/sandboxes/mine');
    expect((await deleted.listed).status).toBe(200);
    const stopped = await held('');
    await one.close();
    expect((await stopped.listed).status).toBe(200);
    const { json } = await other('GET', '/__mock/requests/1');
    expect(json).toMatchObject({ hold: { ended: 'stopped' } });
  });

  test('finds a hold that nobody has released, by the number of its exchange', async () => {
    const [one, two] = [await join({ maxHold: 50 }), await join({ maxHold: 50 })];
    const [ask, other] = [asker(one.port, ''), asker(two.port, '')];
    await ask('GET', '/v1/pets/1');
    await ask('POST', '/__mock/holds', { body: { on: 'listPets', hold: 'pets' } });
    expect((await ask('GET', '/v1/pets')).status).toBe(200);
    const found = async () => Object((await other('GET', '/__mock/findings')).json).findings;
    const expired = { code: 'unreleased-hold', exchange: 2 };
    await expect.poll(found).toContainEqual(expect.objectContaining(expired));
  });

  test('shares settings, snapshots, journal, coverage and findings', async () => {
    const ask = await clients(2);
    const both = async (path: string): Promise<unknown> => {
      const [one, two] = [await ask('GET', path), await ask('GET', path)];
      // curl lines name the server that was asked.
      const plain = ({ text }: Answer) => text.replaceAll(/127\.0\.0\.1:\d+/g, '');
      expect(plain(two)).toBe(plain(one));
      return one.json;
    };
    await ask('PATCH', '/__mock/assumptions', { body: { 'cancel-again': '404' } });
    await ask('PUT', '/__mock/clock', { body: { now: '2030-12-06T00:00:00Z', frozen: true } });
    await ask('POST', '/__mock/snapshots', { body: { name: 'before' } });
    for (const status of [204, 404, 404]) {
      expect((await ask('DELETE', '/v1/store/orders/1')).status).toBe(status);
    }
    expect((await ask('GET', '/v1/pets', { key: 'undefined' })).status).toBe(401);
    expect(await both('/__mock/requests')).toMatchObject({ exchanges: { length: 4 } });
    expect(await both('/__mock/coverage')).toBeTypeOf('object');
    expect(await both('/__mock/findings')).toMatchObject({ counts: { 'placeholder-key': 1 } });
    await ask('POST', '/__mock/snapshots/before/restore');
    expect((await ask('DELETE', '/v1/store/orders/1')).status).toBe(204);
    await ask('POST', '/__mock/reset');
    expect(await both('/__mock/requests')).toMatchObject({ exchanges: [] });
    for (let server = 0; server < 2; server += 1) {
      expect((await ask('GET', '/__mock/clock')).json).toMatchObject({ frozen: false });
    }
  });

  test('knows a scenario on every server as soon as one has saved it', async () => {
    const ask = await clients(2);
    const rules = [{ on: 'getPet', calls: 1, reply: { status: 404 } }];
    const prefer = { headers: { Prefer: 'scenario=mine, handling=strict' } };
    for (let turn = 0; turn < 2; turn += 1) {
      expect((await ask('PUT', '/__mock/scenarios/mine', { body: { rules } })).status).toBeLessThan(
        300,
      );
      expect((await ask('GET', '/v1/pets/1', prefer)).status).toBe(404);
      expect((await ask('GET', '/v1/pets/1', prefer)).status).toBe(200);
    }
    await ask('PUT', '/__mock/scenario', { body: { scenarios: ['mine'] } });
    expect((await ask('DELETE', '/__mock/scenarios/mine')).status).toBe(204);
    expect((await ask('GET', '/v1/pets/1')).status).toBe(404);
    await ask('PUT', '/__mock/scenario', { body: { scenarios: [] } });
    expect((await ask('GET', '/v1/pets/1', prefer)).status).toBe(400);
  });

  test('removes a sandbox that no server uses, once, but none of which one holds a reply', async () => {
    const notices: string[] = [];
    const options = { sandboxIdle: 4_000, onNotice: (it: string) => notices.push(it) };
    const [one, two] = [await join(options), await join(options)];
    const [first, second] = [asker(one.port, ''), asker(two.port, '')];
    await second('POST', '/~held/__mock/holds', { body: { on: 'getPet', hold: true } });
    const held = first('GET', '/~held/v1/pets/1');
    await first('GET', '/~idle/v1/pets');
    await first('DELETE', '/~busy/v1/store/orders/1');
    const used = async () => {
      const { status } = await second('DELETE', '/~busy/v1/store/orders/1');
      return [status, ...notices];
    };
    const removed = expect.stringContaining('removed sandbox idle: ');
    await expect.poll(used, { interval: 100 }).toEqual([409, removed]);
    const { json } = await first('GET', '/__mock/sandboxes?_sort=lastUsed&_order=desc');
    const names = Object(json).map(({ name }: { name: string }) => name);
    expect(names.sort()).toEqual(['busy', 'default', 'held', 'staging']);
    await second('POST', '/~held/__mock/holds/release', { body: {} });
    expect((await held).status).toBe(200);
    const coverage = await second('GET', '/__mock/coverage?all=true');
    expect(coverage.text).toMatch(/"operation":"listPets","status":200,[^}]*"count":1/);
  });

  test('has the same sandboxes on every server', async () => {
    const ask = await clients(2, { maxSandboxes: 1 });
    expect((await ask('GET', '/~staging/v1/pets', { key: 'staging-key' })).status).toBe(200);
    expect((await ask('DELETE', '/~mine/v1/store/orders/1')).status).toBe(204);
    expect((await ask('DELETE', '/~mine/v1/store/orders/1')).status).toBe(409);
    expect((await ask('GET', '/~other/v1/pets')).status).toBe(503);
    expect((await ask('GET', '/~other/v1/pets', { key: 'wrong' })).status).toBe(401);
    const names = async () =>
      Object(await ask('GET', '/__mock/sandboxes')).json.map(({ name }: { name: string }) => name);
    expect(await names()).toEqual(['default', 'staging', 'mine']);
    expect((await ask('POST', '/__mock/sandboxes', { body: { name: 'mine' } })).status).toBe(409);
    const streams = await Promise.all(
      running.map(({ port }) => fetch(`http://127.0.0.1:${port}/~mine/__mock/requests/stream`)),
    );
    expect((await ask('DELETE', '/__mock/sandboxes/mine')).status).toBe(204);
    await Promise.all(streams.map((stream) => stream.text()));
    expect((await ask('DELETE', '/__mock/sandboxes/mine')).status).toBe(404);
    expect(await names()).toEqual(['default', 'staging']);
    expect((await ask('DELETE', '/~mine/v1/store/orders/1')).status).toBe(204);
  });

  test.each([['performance'], ['setTimeout', 'clearTimeout', 'Date']] as const)(
    'answers while a test in the same process fakes %s',
    async (...toFake) => {
      const ask = asker((await join()).port);
      expect((await ask('GET', '/pets/1')).status).toBe(200);
      vi.useFakeTimers({ toFake: [...toFake] });
      onTestFinished(() => void vi.useRealTimers());
      expect((await ask('DELETE', '/store/orders/1')).status).toBe(204);
    },
  );

  test('creates a sandbox like another one on every server', async () => {
    const ask = await clients(2);
    const statuses = async (name: string) => {
      const twice = ['staging-key', 'staging-key', 'demo-key', 'demo-key'];
      const replies = twice.map((key) => ask('GET', `/~${name}/v1/pets`, { key }));
      return (await Promise.all(replies)).map(({ status }) => status);
    };
    await ask('POST', '/__mock/sandboxes', { body: { name: 'one', like: 'staging' } });
    for (const name of ['two', 'three'])
      await ask('POST', '/__mock/sandboxes', { body: { name, like: 'one' } });
    for (const name of ['one', 'two', 'three']) {
      expect([name, ...(await statuses(name))]).toEqual([name, 200, 200, 401, 401]);
      await ask('POST', `/~${name}/__mock/reset`);
      expect([name, ...(await statuses(name))]).toEqual([name, 200, 200, 401, 401]);
    }
    await ask('DELETE', '/__mock/sandboxes/one');
    expect(await statuses('one')).toEqual([401, 401, 200, 200]);
  });

  test('keeps every acknowledged exchange of a sandbox that is deleted under load', async () => {
    const ask = await clients(2);
    const TURNS = 10;
    let acknowledged = 0;
    for (let turn = 0; turn < TURNS; turn += 1) {
      let left = 40;
      let half = (): void => {};
      const isHalf = new Promise<void>((resolve) => {
        half = resolve;
      });
      const load = times(4, async () => {
        for (; left > 0; left -= 1) {
          if (left === 20) half();
          const { status } = await ask('GET', '/~busy/v1/inventory');
          if (status === 200) acknowledged += 1;
        }
      });
      await isHalf;
      expect((await ask('DELETE', '/__mock/sandboxes/busy')).status).toBe(204);
      await load;
    }
    const { json } = await ask('GET', '/__mock/coverage?all=true');
    const listed = { operation: 'listInventory', status: 200, count: acknowledged };
    expect(Object(json).documented).toContainEqual(expect.objectContaining(listed));
  });

  test('answers 503 in place of a deployment whose exchange Redis does not take', async () => {
    const limit = (bytes: string) => redis.command('CONFIG', 'SET', 'maxmemory', bytes);
    const reply = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]';
    const deployment = await rawDeployment((socket) => {
      void limit('1').then(() => socket.write(reply));
    });
    const ask = asker((await join({ upstream: deployment.url })).port, '');
    try {
      expect(await ask('GET', '/v1/pets')).toMatchObject({
        status: 503,
        json: { code: 'not_saved' },
      });
    } finally {
      await limit('0');
    }
    expect((await ask('GET', '/__mock/requests')).json).toMatchObject({ exchanges: [] });
  });

  test.each<[own: ServerOptions, other: ServerOptions]>([
    [{ assume: { 'cancel-again': '404' } }, {}],
    [{}, { journal: 5 }],
    [{}, { upstream: UPSTREAM }],
    [
      { upstream: UPSTREAM, upstreamKey: 'one' },
      { upstream: UPSTREAM, upstreamKey: 'two' },
    ],
    [{}, { sandboxRequired: true }],
    [{}, { plain: true }],
  ])('of %j is another one than a fleet with %j', async (own, other) => {
    const fleets = [];
    for (const options of [own, own, other]) {
      const ask = asker((await join(options)).port, '');
      const { shared } = Object((await ask('GET', '/~mine/__mock/status')).json);
      fleets.push(shared.fleet);
    }
    expect(fleets[1]).toBe(fleets[0]);
    expect(fleets[2]).not.toBe(fleets[0]);
  });

  test('has one token of the control API, which its first server draws', async () => {
    const [one, two] = [await join({ host: '0.0.0.0' }), await join({ host: '0.0.0.0' })];
    expect(one.controlToken).toMatch(/^.{32,}$/);
    expect(two.controlToken).toBe(one.controlToken);
  });

  test('tells its servers, sandboxes, calls and conflicts', async () => {
    const ask = await clients(2);
    await times(20, () => ask('POST', '/v1/pets', { body: { name: 'Rex', categoryId: 1 } }));
    const { shared } = Object((await ask('GET', '/__mock/status')).json);
    expect(shared).toMatchObject({ servers: expect.any(Number), sandboxes: expect.any(Number) });
    expect(shared.calls).toBeGreaterThan(10);
    expect(shared.conflicts).toBeGreaterThan(0);
    expect(shared.roundTrip).toBeGreaterThan(0);
  });

  test('answers health with 503 while it drains, and calls as before', async () => {
    const server = await join({ drain: 5_000 });
    const ask = asker(server.port, '');
    const closed = server.close();
    const health = await ask('GET', '/__mock/health');
    expect(health).toMatchObject({ status: 503, headers: { 'retry-after': '1' } });
    expect(health.text).toContain('this server is stopping');
    expect((await ask('GET', '/v1/pets')).status).toBe(200);
    await closed;
  });

  test.each([
    ['state', 'parts', '^settings@', 'null'],
    ['state', 'parts', '^orders/0@', '{"id":'],
    ['exchange 1', 'journal', '^1$', 'null'],
  ])('refuses a spoilt %s, until the sandbox is deleted', async (what, part, field, value) => {
    const [first, ask] = [asker((await join()).port, ''), asker((await join()).port, '')];
    expect((await first('DELETE', '/~mine/v1/store/orders/1')).status).toBe(204);
    const { shared } = Object((await first('GET', '/~mine/__mock/status')).json);
    const script = `redis.call('SELECT', ARGV[1])
      for _, field in ipairs(redis.call('HKEYS', ARGV[2])) do
        if string.find(field, ARGV[3]) then redis.call('HSET', ARGV[2], field, ARGV[4]) end
      end`;
    const key = `${shared.fleet}:mine:${part}`;
    await redis.command('EVAL', script, '0', String(database), key, field, value);
    const path = part === 'journal' ? '/~mine/__mock/requests' : '/~mine/v1/pets';
    const message = expect.stringContaining(`the ${what} of the sandbox in Redis cannot be read`);
    // The server that wrote it has it in memory.
    expect(await ask('GET', path)).toMatchObject({ status: 503, json: { message } });
    expect((await ask('DELETE', '/__mock/sandboxes/mine')).status).toBe(204);
    for (const server of [ask, first]) expect((await server('GET', path)).status).toBe(200);
  });

  test('says so if the server at the address of --shared is not Redis', async () => {
    const { port } = await join();
    const other = startServer({ port: 0, shared: `redis://127.0.0.1:${port}` });
    await expect(other).rejects.toThrow(/not Redis: Unknown RESP type 72 "H"/);
  });
});
