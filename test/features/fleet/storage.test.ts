import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, onTestFinished, test } from 'vitest';
import { answer, type Outcome } from '../../../src/core/sandbox/answer.ts';
import type { HeldExchange } from '../../../src/core/sandbox/exchange.ts';
import type { SandboxEvent, SandboxListener } from '../../../src/core/sandbox/sandbox.ts';
import { Sandboxes } from '../../../src/core/sandbox/sandboxes.ts';
import { changeLayers, type State } from '../../../src/core/sandbox/state.ts';
import { StorageError } from '../../../src/core/sandbox/storage-error.ts';
import { createStart, type Start } from '../../../src/core/scenario/sandbox-start.ts';
import { currentInstant } from '../../../src/core/service/clock.ts';
import { joinFleet } from '../../../src/features/fleet/fleet.ts';
import { loadFixture } from '../../../src/server/fixtures.ts';
import { NODE_PLATFORM } from '../../../src/server/node-platform.ts';
import type { Keeper } from '../../../src/server/open-sandboxes.ts';
import { callOf, requestOf } from '../../helpers/call.ts';
import { CutProxy } from '../../helpers/cut-proxy.ts';
import { describeWithRedis, RedisServer } from '../../helpers/redis.ts';

const STATE = 'petstore-mock:mine:state';
const START = 'petstore-mock:start';
const SANDBOXES = 'petstore-mock:sandboxes';

/** Raises a number in the state by one; returns it. */
function raise({ counters, ...state }: State) {
  const count = (counters.rules.get('count') ?? 0) + 1;
  const after = { ...state, counters: { ...counters, rules: new Map([['count', count]]) } };
  return { state: after, count };
}

type Update = Omit<Outcome<unknown>, 'before' | 'result'>;

const get = (server: Server, target = '/v1/pets') =>
  server.update((state) => {
    const call = { ...callOf('listPets'), path: target, authorization: 'Bearer demo-key' };
    return answer(state, requestOf(call), currentInstant());
  });

type Server = ReturnType<typeof openSandbox>;

/** A sandbox on a server of a fleet. */
function openSandbox(fleet: Keeper, start: Start, name: string, mayCreate: boolean) {
  const sandboxes = new Sandboxes(
    start,
    { journal: 0 },
    {
      isOneOfMany: true,
      platform: NODE_PLATFORM,
    },
  );
  const persistence = fleet.open(sandboxes);
  const sandbox = mayCreate ? sandboxes.getOrCreate(name) : sandboxes.find(name);
  if (sandbox === undefined) throw new Error(`There is no sandbox ${name}.`);
  const kept = persistence.of(sandbox);
  const update = <U extends Update>(change: (state: State) => U): Promise<U> =>
    kept.run(() => {
      const { state: before } = sandbox.read();
      const changed = change(before);
      return { ...changed, before, result: changed };
    });
  const subscribe = (listener: SandboxListener) => kept.subscribe(listener);
  return { journal: kept.journal, subscribe, update, persistence };
}

describeWithRedis('the storage of a fleet', () => {
  let redis: RedisServer;
  let start: Start;
  const fleets: Keeper[] = [];
  const notices: string[] = [];

  beforeAll(async () => {
    redis = await RedisServer.start();
    start = createStart({}, await loadFixture('default'));
  });
  afterEach(async () => {
    await Promise.all(fleets.splice(0).map((fleet) => fleet.close()));
    notices.length = 0;
    await redis.command('CONFIG', 'SET', 'maxmemory', '0');
    await redis.command('FLUSHALL');
  });
  afterAll(() => redis.end());

  async function join(
    port = redis.port,
    settings: Readonly<Record<string, string>> = {},
  ): Promise<Keeper> {
    const url = `redis://127.0.0.1:${port}/0`;
    const options = { journal: 100, maxHold: 60_000, onNotice: (it: string) => notices.push(it) };
    const fleet = await joinFleet({
      url,
      settings,
      maxSandboxes: 2,
      options,
    });
    fleets.push(fleet);
    return fleet;
  }

  function open(fleet: Keeper, name = 'mine', mayCreate = true): Server {
    return openSandbox(fleet, start, name, mayCreate);
  }

  async function proxied(): Promise<CutProxy> {
    const proxy = await CutProxy.start(redis.port);
    onTestFinished(() => proxy.close());
    return proxy;
  }

  test('counts 1,200 from three servers, each number once', async () => {
    const counts = new Set<number>();
    const servers = [open(await join()), open(await join()), open(await join())];
    const raiseAll = async (storage: Server) => {
      for (let turn = 0; turn < 100; turn += 1) counts.add((await storage.update(raise)).count);
    };
    // Four clients of each server.
    await Promise.all(
      servers.flatMap((server) => Array.from({ length: 4 }, () => raiseAll(server))),
    );
    expect(counts.size).toBe(1200);
    for (const { update } of servers.map((server) => ({ update: server.update(raise) })))
      await update;
    expect(Math.max(...counts)).toBe(1200);
  });

  test('gives a server 60 ms away its turn beside one that is near', async () => {
    const proxy = await proxied();
    proxy.delay = 30;
    const [far, near] = [open(await join(proxy.port)), open(await join())];
    let isOver = false;
    let nearCount = 0;
    const busy = Promise.all(
      Array.from({ length: 4 }, async () => {
        for (; !isOver; nearCount += 1) await near.update(raise);
      }),
    );
    const since = performance.now();
    for (let turn = 0; turn < 5; turn += 1) await far.update(raise);
    const elapsed = performance.now() - since;
    isOver = true;
    await busy;
    expect(elapsed).toBeLessThan(10_000);
    // Turns do not stop the other one for long.
    expect(nearCount).toBeGreaterThan(20);
  });

  test('says that a change may have been made if its connection breaks', async () => {
    const proxy = await proxied();
    const [one, two] = [open(await join()), open(await join(proxy.port))];
    await two.update(raise);
    for (const mode of ['cut at reply', 'cut in request'] as const) {
      proxy.become(mode, 'EVALSHA');
      const broken = two.update(raise);
      await expect(broken).rejects.toThrow(StorageError);
      await expect(broken).rejects.toMatchObject({ isOutcomeUnknown: true });
    }
    // The first one was made, and both servers know it.
    expect((await one.update(raise)).count).toBe(3);
    expect((await two.update(raise)).count).toBe(4);
    // A read is asked again.
    proxy.become('cut at reply', 'EVALSHA');
    expect((await two.update((state) => ({ state }))).state.counters.rules.get('count')).toBe(4);
  });

  test('bears a slow connection', async () => {
    const proxy = await proxied();
    const fleet = await join(proxy.port);
    const [slow, other] = [open(fleet), open(await join())];
    const name = 'x'.repeat(250);
    await other.update((state) => {
      const animals = Array.from({ length: 2000 }, (_, at) => ({
        id: BigInt(at),
        name,
        categoryId: 1n,
      }));
      return {
        state: {
          ...state,
          store: { ...state.store, animals: state.store.animals.withAll(animals) },
        },
      };
    });
    proxy.bytesPerSecond = 250_000;
    const { state } = await slow.update((state) => ({ state }));
    expect(state.store.animals.size).toBeGreaterThanOrEqual(2000);
    expect(notices).toEqual([]);
  });

  test('starts a sandbox anew, on all servers, if Redis has lost it or any part of the directory', async () => {
    const servers = [open(await join()), open(await join()), open(await join())];
    const expectAgreement = async (first: number) => {
      const counts = [];
      for (const server of servers) counts.push((await server.update(raise)).count);
      expect(counts).toEqual([first, first + 1, first + 2]);
    };
    await expectAgreement(1);
    await redis.command('DEL', SANDBOXES);
    await expectAgreement(4);
    await redis.command('DEL', START);
    await expectAgreement(7);
    await redis.command('DEL', 'petstore-mock:mine:journal');
    await expectAgreement(10);
    await redis.command('DEL', STATE);
    await expectAgreement(1);
    await redis.command('FLUSHALL');
    await expectAgreement(1);
    await expectAgreement(4);
  });

  test('goes back with Redis, on all servers, also to a state that lacks what they know', async () => {
    const servers = [open(await join()), open(await join())];
    const [one, two] = servers;
    if (one === undefined || two === undefined) throw new Error('no server');
    const rename = (storage: Server, id: bigint, name: string) =>
      storage.update((state) => {
        const animals = state.store.animals.with({ id, name, categoryId: 1n });
        return { state: { ...state, store: { ...state.store, animals } } };
      });
    await rename(one, 1n, 'Early');
    await redis.command('COPY', STATE, 'earlier');
    await rename(one, 1n, 'Lost');
    await rename(two, -1n, 'Lost');
    await rename(one, 1_000_000n, 'Lost');
    await two.update((state) => ({ state }));
    await redis.command('COPY', 'earlier', STATE, 'REPLACE');
    await rename(one, 300n, 'Late');
    for (const server of servers) {
      const { state } = await server.update((present) => ({ state: present }));
      const names = [1n, -1n, 1_000_000n, 300n].map((id) => state.store.animals.get(id)?.name);
      expect(names).toEqual(['Early', undefined, undefined, 'Late']);
      expect(state.store.animals.highestId).toBe(300n);
    }
  });

  test('takes names of sandboxes off the directory that are deleted, or that Redis has dropped', async () => {
    const fleet = await join();
    const one = open(fleet, 'one');
    await get(one);
    await get(open(fleet, 'two'));
    await expect(get(open(fleet, 'three'))).rejects.toThrow('sandbox limit (2) reached');
    await redis.command('DEL', 'petstore-mock:one:state');
    expect([...(await one.persistence.unused()).keys()]).toEqual(['default', 'staging', 'two']);
    await get(open(fleet, 'three'));
    await one.persistence.remove('two');
    await get(open(fleet, 'four'));
  });

  test('refuses to go on beside a fleet with other settings, which came first after a loss', async () => {
    const fleet = await join(redis.port, { seed: '1' });
    const one = open(fleet);
    await one.update(raise);
    await redis.command('FLUSHALL');
    const other = await join(redis.port, { seed: '2' });
    await expect(one.update(raise)).rejects.toThrow('seed: the fleet has 2, this server 1');
    expect(one.persistence.problem).toContain('started with other settings');
    await open(other).update(raise);
    await expect(one.update(raise)).rejects.toThrow('seed: the fleet has 2, this server 1');
    await redis.command('FLUSHALL');
    expect((await one.update(raise)).count).toBe(1);
    expect(one.persistence.problem).toBeUndefined();
  });

  test('refuses a Redis Cluster', async () => {
    const node = await RedisServer.start('--cluster-enabled', 'yes');
    onTestFinished(() => node.end());
    await expect(join(node.port)).rejects.toThrow('expected a single Redis, found a Redis Cluster');
  });

  test('does not bring a deleted sandbox back to listen or to read', async () => {
    const fleet = await join();
    const [one, two] = [open(fleet), open(await join(), 'mine', false)];
    await one.update(raise);
    const events: string[] = [];
    onTestFinished(two.subscribe(({ kind }) => events.push(kind)));
    expect((await two.update(raise)).count).toBe(2);
    expect(await two.persistence.remove('mine', 60_000)).toBe(false);
    expect(await one.persistence.remove('mine')).toBe(true);
    expect(await one.persistence.remove('mine')).toBe(false);
    await expect.poll(() => events).toContain('deleted');
    expect(await two.journal.size()).toEqual({ number: 0, size: 0, dropped: 0 });
    expect((await two.update(raise)).count).toBe(1);
    expect(await redis.command('KEYS', 'petstore-mock:mine*')).toBe('');
    expect(await one.persistence.create('mine')).toBe(true);
    expect(await two.persistence.create('mine')).toBe(false);
    expect((await two.update(raise)).count).toBe(1);
  });

  test('tells of everything on every server, also of what happened while the connection was lost', async () => {
    const proxy = await proxied();
    const [one, two] = [open(await join()), open(await join(proxy.port))];
    await get(one, '/before');
    const events: SandboxEvent[] = [];
    onTestFinished(two.subscribe((event) => events.push(event)));
    const seen = () =>
      events.map((event) =>
        'exchange' in event ? `${event.kind} ${event.exchange.target}` : event.kind,
      );
    await get(two, '/a');
    await one.update((state) => ({
      state: changeLayers(state, { byHand: { 'cancel-again': '404' } }),
      edit: { what: 'assume', by: 'test' },
    }));
    await expect.poll(seen).toEqual(['exchange /a', 'edit']);
    proxy.cut();
    for (let turn = 0; turn < 3; turn += 1) await get(one, `/${turn}`);
    const missed = ['exchange /0', 'exchange /1', 'exchange /2'];
    await expect.poll(seen).toEqual(expect.arrayContaining(missed));
    await get(one, '/last');
    await expect.poll(seen).toContain('exchange /last');
  });

  test('tells that a sandbox is gone if Redis loses it while the connection is lost', async () => {
    const proxy = await proxied();
    const [one, two] = [open(await join()), open(await join(proxy.port))];
    const events: string[] = [];
    onTestFinished(two.subscribe(({ kind }) => events.push(kind)));
    // Listens only once Redis has confirmed it.
    await two.journal.size();
    await get(one);
    await expect.poll(() => events).toEqual(['exchange']);
    await redis.command('DEL', STATE);
    proxy.cut();
    await expect.poll(() => events).toEqual(['exchange', 'deleted']);
  });

  test('lists holds of all servers, and drops one whose server must have died', async () => {
    const [one, two] = [open(await join()), open(await join())];
    const hold = async (storage: Server, since: number): Promise<void> => {
      await storage.update((state) => {
        const call = { ...callOf('listPets'), authorization: 'Bearer demo-key' };
        const { result: exchange } = answer(state, requestOf(call), currentInstant());
        const held: HeldExchange = { ...exchange, hold: { name: 'mine', since } };
        return { state, exchange: held };
      });
    };
    await hold(one, Date.now());
    await hold(one, Date.now() - 120_001);
    const [held, ...others] = await two.journal.held();
    expect(held?.number).toBe(1);
    // The server of the other one must have died.
    expect(others).toEqual([]);
    expect(await two.journal.find(2)).toMatchObject({ hold: { ended: 'left' } });
  });

  test('keeps no body above 16 KiB, and says how long it was', async () => {
    const one = open(await join());
    const bodies = [
      '"'.repeat(16 * 1024),
      Buffer.alloc(16 * 1024, 0xff),
      'x'.repeat(16 * 1024 + 1),
    ];
    for (const body of bodies) {
      await one.update((state) => {
        const call = { ...callOf('listPets'), authorization: 'Bearer demo-key' };
        const { result: exchange } = answer(state, requestOf(call), currentInstant());
        const reply = exchange.reply && { ...exchange.reply, body, size: body.length };
        return { state, exchange: { ...exchange, reply } };
      });
    }
    const { exchanges } = await one.journal.select({});
    const kept = exchanges.map(({ reply }) => [reply?.body, reply?.size]).reverse();
    expect(kept).toEqual([
      [bodies[0], 16 * 1024],
      [bodies[1], 16 * 1024],
      [undefined, 16 * 1024 + 1],
    ]);
  });

  test('deletes a sandbox although Redis is full', async () => {
    const fleet = await join();
    const one = open(fleet);
    await one.update(raise);
    await redis.command('CONFIG', 'SET', 'maxmemory', '1');
    await expect(get(one)).rejects.toThrow(/answers OOM command not allowed[^:]*$/);
    expect(await one.persistence.remove('mine')).toBe(true);
    await sleep(0);
    expect(await redis.command('KEYS', 'petstore-mock:mine*')).toBe('');
  });
});
