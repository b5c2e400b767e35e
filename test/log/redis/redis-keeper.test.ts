import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Exchange } from '../../../src/sandbox/exchange.ts';
import { Evidence } from '../../../src/sandbox/sandbox-evidence.ts';
import { Totals } from '../../../src/sandbox/totals.ts';
import { joinFleet } from '../../../src/log/redis/redis-fleet.ts';
import { apply, diff } from '../../../src/sandbox/change.ts';
import {
  type Fleet,
  type Keeper,
  StorageError,
  type LogEntry,
  type Opening,
} from '../../../src/sandbox/storage.ts';
import { latchFrom } from '../../../src/sandbox/latches.ts';
import { initialState, type State, withChoices } from '../../../src/sandbox/state.ts';
import type { OpenUpstream } from '../../../src/sandbox/upstream.ts';
import { loadScenarios } from '../../../src/scenario/load-scenario.ts';
import { loadStore, type Start, starterFrom } from '../../../src/scenario/sandbox-start.ts';
import { readScenario } from '../../../src/scenario/scenario-shape.ts';
import { applyStoreChange, type Store } from '../../../src/store/store.ts';
import { CutProxy } from '../../helpers/cut-proxy.ts';
import { exchangeWith } from '../../helpers/exchange.ts';
import { shownState } from '../../helpers/histories.ts';
import { describeWithRedis, RedisServer } from '../../helpers/redis.ts';

const LIMITS = { journal: 3, maxHold: 60_000 };
const DIRECTORY = 'petstore-mock:{directory}:sandboxes';

/** More than a log grows by before it is folded. */
const LARGE = ' '.repeat(5_000_000);

/** An exchange that a test tells by its target. */
const exchange = (target: string, replyBody = ''): Exchange => exchangeWith({ target, replyBody });

/** A server that holds a sandbox. */
interface Server {
  readonly keeper: Keeper;
  readonly state: State;
  /** Has the exchanges that were kept or missed. */
  evidence: Evidence;
  /** How often the sandbox turned out to be deleted. */
  gone: number;
}

const NOTHING_LEFT = () => undefined;

describeWithRedis('the keeper of a fleet', () => {
  let redis: RedisServer;
  let store: Store;
  let start: Start;
  const fleets: Fleet[] = [];
  const proxies: CutProxy[] = [];
  const starter = starterFrom({}, () => store);
  const unused = () => {
    throw new Error('not used');
  };
  const openUpstream: OpenUpstream = async ({ href }, key) => {
    return { url: href, key, compare: unused, send: unused, close: unused };
  };

  beforeAll(async () => {
    store = await loadStore({});
    start = await starter([]);
  });
  beforeEach(async () => {
    redis = await RedisServer.start();
  });
  afterEach(async () => {
    for (const fleet of fleets.splice(0)) fleet.close();
    for (const proxy of proxies.splice(0)) proxy.close();
    await redis.end();
  });

  async function join(port = redis.port, settings = { seed: '1' }): Promise<Fleet> {
    const url = `redis://127.0.0.1:${port}/0`;
    const fleet = await joinFleet({ url, settings, maxSandboxes: 2, starter, openUpstream });
    fleets.push(fleet);
    return fleet;
  }

  function opening(name = 'mine'): Opening {
    const initial = () => ({
      state: initialState(start, undefined, 0),
      evidence: new Evidence(name, LIMITS).state,
    });
    return { name, origin: start, ownStart: (other) => other, initial };
  }

  /** A server that has looked at a sandbox. */
  async function serve(fleet: Fleet | Promise<Fleet> = join()): Promise<Server> {
    const keeper = (await fleet).keep(opening(), true, () => {
      server.gone += 1;
    });
    const { state } = opening().initial();
    const server: Server = { keeper, state, evidence: new Evidence('mine', LIMITS), gone: 0 };
    expect(await append(server)).not.toBe('kept');
    return server;
  }

  async function proxied(): Promise<CutProxy> {
    const proxy = await CutProxy.start(redis.port);
    proxies.push(proxy);
    return proxy;
  }

  /** The second append of a server, which the log takes and whose reply does not arrive. */
  async function appendWithoutReply() {
    const one = await serve();
    const proxy = await proxied();
    const two = await serve(join(proxy.port));
    expect(await append(two, 'a')).toBe('kept');
    proxy.become('lose replies');
    const appended = append(two, 'b');
    await expect.poll(async () => [await append(one), redisHas(one)][1]).toEqual(['a', 'b']);
    return { one, two, proxy, appended };
  }

  /** Appends exchanges. Returns what the server has missed instead. */
  async function append(server: Server, ...targets: string[]): Promise<'kept' | string[]> {
    const entries = targets.map((it): LogEntry => ({ exchange: exchange(it) }));
    const answer = await server.keeper.append(entries, server.state);
    if (answer !== 'kept') return take(server, answer);
    for (const it of entries)
      if (it.exchange !== undefined) server.evidence.take({ exchange: it.exchange });
    return 'kept';
  }

  async function read(server: Server): Promise<string[]> {
    return take(server, await server.keeper.read());
  }

  function take(server: Server, { snapshot, entries }: Awaited<ReturnType<Keeper['read']>>) {
    if (snapshot !== undefined) {
      server.evidence = new Evidence('mine', LIMITS, snapshot.evidence);
    }
    return entries.flatMap(({ exchange: its }) => {
      if (its !== undefined) server.evidence.take({ exchange: its });
      return its?.target ?? [];
    });
  }

  /** The targets of the exchanges that a server knows, the latest ones. */
  function redisHas({ evidence: { journal } }: Server): string[] {
    return [...journal.select()].map(({ target }) => target).reverse();
  }

  /** Lets the log grow until it is folded into a snapshot. */
  async function fold(server: Server): Promise<void> {
    const large = exchange('large', LARGE);
    expect(await server.keeper.append([{ exchange: large }], server.state)).toBe('kept');
    server.evidence.take({ exchange: large });
    server.keeper.compact?.(server.state, server.evidence);
    await expect.poll(() => headField('size')).toBe('0');
  }

  async function key(part: string): Promise<string> {
    return `petstore-mock:{mine~${await redis.command('HGET', DIRECTORY, 'mine')}}:${part}`;
  }

  async function headField(name: string): Promise<string> {
    return redis.command('HGET', await key('head'), name);
  }

  test('tells another server all that a state has, int64 exactly', async () => {
    const [one, two] = [await serve(), await serve()];
    const id = 2n ** 63n - 1n;
    const reading = readScenario({ state: { orders: { remove: [id] } }, rules: [] }, 'own');
    if (!reading.ok) throw new Error('no scenario');
    const other = await starter([...(await loadScenarios(['flaky'])), reading.value]);
    const animal = { id, name: 'Rex \ud83d\n"', categoryId: -(2n ** 63n) };
    const changed = applyStoreChange(store, {
      animals: { set: [animal] },
      orders: { remove: [1n], highestId: id },
    });
    const upstream = await openUpstream(new URL('http://pets.example/v1'), 'key');
    const settings = { start: other, startedAt: 5, upstream };
    const state: State = {
      store: changed,
      settings: withChoices(settings, { ...start.choices, 'cancel-again': '404' }),
      clock: { ahead: 7, frozenAt: 8 },
      counters: {
        rules: new Map([['1', 2]]),
        rates: new Map([['demo-key', { startedAt: 3, count: 4 }]]),
      },
      snapshots: new Map([['before', store]]),
      scenarios: new Map([
        ['b', { name: 'b', description: 'B.', format: 'json', text: '{"\u2028":1}' }],
      ]),
      latches: new Map([['list', latchFrom('{"on":"listPets","hold":"list"}')]]),
    };
    const change = diff(one.state, state);
    const past = new Totals().toJSON();
    expect(await one.keeper.append([{ change, past, clears: 'all' }], state)).toBe('kept');
    const { entries } = await two.keeper.read();
    expect(entries).toEqual([{ change: expect.anything(), past, clears: 'all' }]);
    const followed = apply(two.state, entries[0]?.change ?? {});
    expect(shownState(followed)).toEqual(shownState(state));
    await fold({ ...one, state });
    const { snapshot } = await (await join()).keep(opening(), false, () => {}).read();
    expect(snapshot && shownState(snapshot.state)).toEqual(shownState(state));
    expect(snapshot?.evidence).toEqual(JSON.parse(JSON.stringify(one.evidence.state)));
  });

  test('gives a snapshot and what follows to a server that misses more than the log has', async () => {
    const [one, two] = [await serve(), await serve()];
    for (const target of ['a', 'b', 'c']) expect(await append(one, target)).toBe('kept');
    await fold(one);
    expect(await redis.command('XLEN', await key('entries'))).toBe('0');
    expect(await append(one, 'd')).toBe('kept');
    expect(await append(two, 'x')).toEqual(['d']);
    expect(redisHas(two)).toEqual(['c', 'large', 'd']);
    expect(two.evidence.journal.number).toBe(5);
    expect(await append(two, 'x')).toBe('kept');
    expect(await read(one)).toEqual(['x']);
  });

  test('asks for a snapshot again when a server that should have folded did not', async () => {
    const one = await serve();
    const large = { exchange: exchange('large', LARGE) };
    expect(await one.keeper.append([large], one.state)).toBe('kept');
    const two = await serve();
    await fold(two);
    expect(await headField('folded')).toBe('2');
  });

  test('notices that Redis has lost what it had taken', async () => {
    const [one, two] = [await serve(), await serve()];
    await append(one, 'a');
    await append(one, 'lost');
    // As after a failover to a replica that was behind: another history of the same length.
    const [entries, other] = [await key('entries'), JSON.stringify([{ exchange: exchange('b') }])];
    await redis.command('XDEL', entries, '2-0');
    await redis.command('XSETID', entries, '1-0');
    await redis.command('XADD', entries, '2-0', 'by', 'other', 'entries', other);
    await redis.command('HSET', await key('head'), 'by', 'other');
    expect(await append(one, 'x')).toEqual(['a', 'b']);
    expect(redisHas(one)).toEqual(['a', 'b']);
    expect(await read(two)).toEqual(['a', 'b']);
  });

  test('starts a sandbox anew if Redis has evicted a part of it', async () => {
    const [one, two] = [await serve(), await serve()];
    await append(one, 'a');
    await redis.command('DEL', await key('entries'));
    expect(await append(two, 'b')).toEqual([]);
    expect(await append(two, 'b')).toBe('kept');
    expect(await append(one, 'c')).toEqual(['b']);
    expect([one.gone, two.gone]).toEqual([1, 1]);
  });

  test('keeps an append only once if its reply was lost with the connection', async () => {
    const one = await serve();
    const proxy = await proxied();
    const two = await serve(join(proxy.port));
    proxy.become('cut at reply');
    expect(await append(two, 'a', 'b')).toBe('kept');
    expect(await read(one)).toEqual(['a', 'b']);
    expect(await append(two, 'c')).toBe('kept');
  });

  test('keeps an append whose reply was lost before others appended', async () => {
    const { one, two, proxy, appended } = await appendWithoutReply();
    expect(await append(one, 'c')).toBe('kept');
    proxy.cut();
    expect(await appended).toBe('kept');
    expect(await append(two, 'd')).toEqual(['c']);
  });

  test('does not repeat an append that may have been folded since', async () => {
    const { one, two, proxy, appended } = await appendWithoutReply();
    await fold(one);
    expect(await append(one, 'd')).toBe('kept');
    proxy.cut();
    await expect(appended).rejects.toMatchObject({ isOutcomeUnknown: true });
    expect(await read(two)).toEqual(['d']);
    expect(redisHas(two)).toEqual(['b', 'large', 'd']);
  });

  test('does not deny an append that Redis took before it refused to', async () => {
    const { two, proxy, appended } = await appendWithoutReply();
    await redis.command('ACL', 'SETUSER', 'default', '-evalsha');
    proxy.cut();
    await expect(appended).rejects.toMatchObject({ isOutcomeUnknown: true });
    await redis.command('ACL', 'SETUSER', 'default', '+evalsha');
    expect(await read(two)).toEqual(['b']);
  });

  test('waits for a Redis that is paused, and keeps the append once', async () => {
    const fleet = await join();
    const one = await serve(fleet);
    redis.freeze();
    const appended = append(one, 'a');
    await expect.poll(() => fleet.problem).toContain('cannot be reached (no reply within 2000 ms)');
    redis.thaw();
    expect(await appended).toBe('kept');
    expect(fleet.problem).toBeUndefined();
    expect(redisHas(await serve())).toEqual(['a']);
  });

  test('refuses to go on beside a fleet with other settings, which came first after a loss', async () => {
    const fleet = await join();
    const one = await serve(fleet);
    await redis.command('FLUSHALL');
    await join(redis.port, { seed: '2' });
    const refused = append(one, 'a');
    await expect(refused).rejects.toThrow(StorageError);
    await expect(refused).rejects.toThrow('seed: the fleet has 2, this server 1');
    expect(fleet.problem).toContain('started with other settings');
    await redis.command('FLUSHALL');
    expect(await append(one, 'a')).toEqual([]);
    expect(fleet.problem).toBeUndefined();
  });

  test('takes nothing more after its sandbox was deleted, and does not bring it back to listen', async () => {
    const fleet = await join();
    const [one, two] = [await serve(fleet), await serve()];
    await append(one, 'a');
    const stem = await key('*');
    expect(await fleet.delete('mine', NOTHING_LEFT)).toBe(true);
    expect(await fleet.delete('mine', NOTHING_LEFT)).toBe(false);
    expect(await redis.command('KEYS', stem)).toBe('');
    expect(await read(two)).toEqual([]);
    expect(two.gone).toBe(1);
    expect([...(await fleet.unused()).keys()]).toEqual([]);
    expect(await append(two, 'b')).toEqual([]);
    expect(await append(two, 'b')).toBe('kept');
    expect(await append(one, 'c')).toEqual(['b']);
    expect(redisHas(one)).toEqual(['b']);
  });

  test('does not deny a deletion whose reply was lost with its connection', async () => {
    const proxy = await proxied();
    const fleet = await join(proxy.port);
    await serve(fleet);
    proxy.become('cut at reply', 'UNLINK');
    await expect(fleet.delete('mine', NOTHING_LEFT)).rejects.toMatchObject({
      isOutcomeUnknown: true,
    });
    expect(await fleet.delete('mine', NOTHING_LEFT)).toBe(false);
    expect([...(await fleet.unused()).keys()]).toEqual([]);
  });

  test('replaces a sandbox that its creator registered too late', async () => {
    const one = await join();
    expect(await one.create(opening())).toBe(true);
    expect(Number(await redis.command('TTL', await key('head')))).toBeGreaterThan(0);
    await redis.command('DEL', await key('head'), await key('snapshot'));
    const server = await serve(one);
    expect(await append(server, 'a')).toBe('kept');
    expect(await redis.command('TTL', await key('head'))).toBe('-1');
    expect(await redis.command('TTL', await key('snapshot'))).toBe('-1');
  });
});
