import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { answer, type Outcome } from '../../../src/core/sandbox/answer.ts';
import type { ExchangeWithHold } from '../../../src/core/sandbox/exchange.ts';
import { MAX_REMEMBERED_BYTES } from '../../../src/core/sandbox/journal.ts';
import type { SandboxEvent, SandboxListener } from '../../../src/core/sandbox/sandbox.ts';
import { Sandboxes } from '../../../src/core/sandbox/sandboxes.ts';
import { createStart, type Start } from '../../../src/core/sandbox/start.ts';
import { changeLayers, type State } from '../../../src/core/sandbox/state.ts';
import { currentInstant } from '../../../src/core/service/clock.ts';
import { joinFleet } from '../../../src/features/fleet/fleet.ts';
import type { FleetOptions } from '../../../src/features/fleet/options.ts';
import * as files from '../../../src/server/files.ts';
import { loadFixture } from '../../../src/server/fixtures.ts';
import { NODE_PLATFORM } from '../../../src/server/node-platform.ts';
import type { Storage } from '../../../src/server/open-sandboxes.ts';
import type { BaseOptions } from '../../../src/server/options.ts';
import { callOf, requestOf } from '../../helpers/call.ts';
import { CutProxy } from '../../helpers/cut-proxy.ts';
import { describeWithRedis, RedisServer } from '../../helpers/redis.ts';

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

/** Answers a call, and holds its reply back. */
async function hold(server: Server, since = Date.now()): Promise<ExchangeWithHold> {
  const { exchange } = await server.update((state) => {
    const call = { ...callOf('listPets'), authorization: 'Bearer demo-key' };
    const { result } = answer(state, requestOf(call), currentInstant());
    const held: ExchangeWithHold = { ...result, hold: { name: 'mine', since } };
    return { state, exchange: held };
  });
  return exchange;
}

/** A sandbox on a server of a fleet. */
function openSandbox(fleet: Storage, start: Start, name: string, mayCreate: boolean) {
  const sandboxes = new Sandboxes(start, { isShared: true, platform: NODE_PLATFORM });
  const persistence = fleet.open(sandboxes);
  const sandbox = mayCreate ? sandboxes.getOrCreate(name) : sandboxes.peek(name);
  if (sandbox === undefined) throw new Error(`There is no sandbox ${name}.`);
  const journal = persistence.journal(sandbox);
  const update = <U extends Update>(change: (state: State) => U): Promise<U> =>
    persistence.keep(sandbox, () => {
      const { state: before } = sandbox.read();
      const changed = change(before);
      return { ...changed, before, result: changed };
    });
  const subscribe = (listener: SandboxListener) => persistence.subscribe(sandbox, listener);
  const { fleet: prefix = '' } = persistence.status?.() ?? {};
  const key = (part: string) => `${prefix}:${name}:${part}`;
  return { journal, subscribe, update, persistence, prefix, key };
}

describeWithRedis('the storage of a fleet', () => {
  let redis: RedisServer;
  let start: Start;
  const fleets: Storage[] = [];
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
    settings: BaseOptions & FleetOptions = {},
    name = '',
  ): Promise<Storage> {
    const url = `redis://127.0.0.1:${port}/0${name}`;
    const onNotice = (it: string) => notices.push(it);
    const options = { journal: 100, maxHold: 60_000, maxSandboxes: 2, onNotice, ...settings };
    const fleet = await joinFleet(url, options, { start, agreed: settings });
    fleets.push(fleet);
    return fleet;
  }

  function open(fleet: Storage, name = 'mine', mayCreate = true): Server {
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

  test('makes a change once if its connection breaks, whether Redis had it or not', async () => {
    const proxy = await proxied();
    const [one, two] = [open(await join()), open(await join(proxy.port))];
    await two.update(raise);
    for (const [turn, mode] of (['cut at reply', 'cut in request'] as const).entries()) {
      proxy.become(mode, 'EVALSHA');
      expect((await two.update(raise)).count).toBe(2 * turn + 2);
      expect((await one.update(raise)).count).toBe(2 * turn + 3);
    }
    // A read is asked again.
    proxy.become('cut at reply', 'EVALSHA');
    expect((await two.update((state) => ({ state }))).state.counters.rules.get('count')).toBe(5);
  });

  test('says that a change may have been made if Redis stays away, and makes it no more', async () => {
    const proxy = await proxied();
    const [one, two] = [open(await join()), open(await join(proxy.port))];
    await two.update(raise);
    proxy.delay = 5_500;
    await expect(two.update(raise)).rejects.toMatchObject({ isOutcomeUnknown: true });
    proxy.delay = 0;
    await expect.poll(() => two.persistence.problem).toBeUndefined();
    expect((await one.update(raise)).count).toBe(2);
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
    const [first] = servers;
    await redis.command('DEL', `${first?.prefix}/sandboxes`);
    await expectAgreement(4);
    await redis.command('DEL', `${first?.prefix}/token`);
    await expectAgreement(7);
    await redis.command('DEL', first?.key('journal') ?? '');
    await expectAgreement(10);
    const [, second] = servers;
    if (second !== undefined) await get(second);
    await redis.command('DEL', first?.key('state') ?? '');
    await expectAgreement(1);
    // What was kept apart from the state is gone with it.
    expect(await first?.journal.size()).toEqual({ number: 0, size: 0, dropped: 0 });
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
    const copies = [one.key('state'), one.key('parts')] as const;
    for (const key of copies) await redis.command('COPY', key, `earlier ${key}`);
    await rename(one, 1n, 'Lost');
    await rename(two, -1n, 'Lost');
    await rename(one, 1_000_000n, 'Lost');
    await two.update((state) => ({ state }));
    for (const key of copies) await redis.command('COPY', `earlier ${key}`, key, 'REPLACE');
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
    await redis.command('DEL', one.key('state'));
    expect([...(await one.persistence.unused()).keys()]).toEqual(['default', 'staging', 'two']);
    await get(open(fleet, 'three'));
    await one.persistence.remove('two');
    await get(open(fleet, 'four'));
  });

  test('begins anew beside a fleet of other settings or another version, which goes on', async () => {
    const one = open(await join());
    await one.update(raise);
    const other = open(await join(redis.port, { maxHold: 1 }));
    vi.spyOn(files, 'packageVersion').mockReturnValue('0.0.9');
    onTestFinished(() => void vi.restoreAllMocks());
    const older = open(await join());
    const named = open(await join(redis.port, {}, '#team'));
    expect(new Set([one, other, older, named].map(({ prefix }) => prefix)).size).toBe(4);
    for (const server of [other, older, named]) expect((await server.update(raise)).count).toBe(1);
    expect((await one.update(raise)).count).toBe(2);
    vi.restoreAllMocks();
    expect((await open(await join()).update(raise)).count).toBe(3);
  });

  test('gives every key a time to live, which use renews', async () => {
    const one = open(await join(redis.port, { fleetTtl: 60_000 }));
    await get(one);
    await hold(one);
    await one.persistence.remove('mine');
    await get(one);
    await hold(one);
    const script = "return redis.call('KEYS', '*')";
    const keys = (await redis.command('EVAL', script, '0')).split(',');
    expect(keys.length).toBeGreaterThan(6);
    for (const key of keys) {
      const left = Number(await redis.command('PTTL', key));
      expect(left, key).toBeGreaterThan(0);
      expect(left, key).toBeLessThanOrEqual(60_000);
    }
    await redis.command('PEXPIRE', one.key('state'), '1000');
    await get(one);
    expect(Number(await redis.command('PTTL', one.key('state')))).toBeGreaterThan(1000);
  });

  test('says that Redis has lost its data', async () => {
    const fleet = await join();
    const one = open(fleet);
    await get(one);
    const proxy = await proxied();
    const two = open(await join(proxy.port));
    expect(two.persistence.notice).toBeUndefined();
    await redis.command('FLUSHALL');
    proxy.cut();
    // The other server may notice it first.
    await expect.poll(() => two.persistence.notice ?? '').toContain('has lost its data');
    const text = expect.stringMatching(/has lost its data: \d+ sandboxes start anew/);
    expect(notices).toContainEqual(text);
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
    expect(await redis.command('KEYS', 'petstore-mock:*:mine:*')).toBe('');
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
    await redis.command('DEL', one.key('state'));
    proxy.cut();
    await expect.poll(() => events).toEqual(['exchange', 'deleted']);
  });

  test('lists holds of all servers, and drops one whose server must have died', async () => {
    const [one, two] = [open(await join()), open(await join())];
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

  test('counts what is new, also in a sandbox that was created anew', async () => {
    const [one, two] = [open(await join()), open(await join())];
    const numbers = async () => {
      const query = { filter: { operation: 'listPets' as const }, heads: true };
      return (await two.journal.select(query)).exchanges.map(({ number }) => number);
    };
    await get(one);
    await hold(one);
    expect(await numbers()).toEqual([2, 1]);
    await get(one);
    expect(await numbers()).toEqual([3, 2, 1]);
    await one.persistence.remove('mine');
    await get(one);
    expect(await numbers()).toEqual([1]);
  });

  test('has one budget of bytes for all journals, which the one used longest ago makes up for', async () => {
    const fleet = await join();
    const [idle, busy] = [open(fleet, 'idle'), open(fleet, 'busy')];
    for (const one of [idle, idle, idle, busy]) await get(one);
    const key = `${idle.prefix}/bytes`;
    const bytes = async (name: string) => Number(await redis.command('HGET', key, name));
    expect(await bytes('/')).toBe((await bytes('idle')) + (await bytes('busy')));
    // As if many others had the rest.
    await redis.command('HSET', key, '/', String(MAX_REMEMBERED_BYTES));
    for (let turn = 1; turn <= 4; turn += 1) {
      await get(busy);
      expect(await bytes('/')).toBeLessThanOrEqual(MAX_REMEMBERED_BYTES);
      const { dropped } = await busy.journal.size();
      const { size: left } = await idle.journal.size();
      expect(left).toBeLessThanOrEqual(3 - Math.min(turn, 3));
      if (left > 0) expect(dropped).toBe(0);
    }
    expect(await idle.journal.size()).toEqual({ number: 3, size: 0, dropped: 3 });
    expect(await busy.journal.size()).toMatchObject({ number: 5, dropped: expect.any(Number) });
    const before = await bytes('/');
    const freed = await bytes('busy');
    expect(await busy.persistence.remove('busy')).toBe(true);
    expect(await bytes('/')).toBe(before - freed);
  });

  test('lists and deletes a sandbox although Redis is full', async () => {
    const fleet = await join();
    const one = open(fleet);
    await one.update(raise);
    await redis.command('CONFIG', 'SET', 'maxmemory', '1');
    await expect(get(one)).rejects.toThrow(/answers OOM command not allowed[^:]*$/);
    expect([...(await one.persistence.unused()).keys()]).toContain('mine');
    expect(await one.persistence.remove('mine')).toBe(true);
    await sleep(0);
    expect(await redis.command('KEYS', 'petstore-mock:*:mine:*')).toBe('');
  });
});
