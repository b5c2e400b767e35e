import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { readRedisAddress } from '../../../src/store/log/redis-address.ts';
import { RedisConnection } from '../../../src/store/log/redis-connection.ts';
import { LogGoneError, type LogTexts, RedisLog } from '../../../src/store/log/redis-log.ts';
import { CutProxy } from '../../helpers/cut-proxy.ts';
import { describeWithRedis, RedisServer } from '../../helpers/redis.ts';

const TEXTS: LogTexts<string, string> = {
  writeEntry: String,
  readEntry: String,
  writeSnapshot: String,
  readSnapshot: String,
  isLasting: (entry) => entry !== '-',
};

let logs = 0;

describeWithRedis('a log in Redis', () => {
  let redis: RedisServer;
  const connections: RedisConnection[] = [];
  beforeAll(async () => {
    redis = await RedisServer.start();
  });
  afterEach(() => {
    for (const connection of connections.splice(0)) connection.close();
  });
  afterAll(() => redis.end());

  function connect(port = redis.port): RedisConnection {
    const address = readRedisAddress(`redis://127.0.0.1:${port}/0`);
    if (address === undefined) throw new Error('not an address');
    const connection = new RedisConnection(address);
    connections.push(connection);
    return connection;
  }

  /** A new log, as two servers see it. Its snapshots keep the last two entries, `-` not counted. */
  async function twoServers(): Promise<[RedisLog<string, string>, RedisLog<string, string>]> {
    logs += 1;
    const name = `log-${logs}`;
    const one = new RedisLog(connect(), name, TEXTS, 2);
    await one.create('start');
    return [one, new RedisLog(connect(), name, TEXTS, 2)];
  }

  test('takes an append only from a server that knows all others', async () => {
    const [one, two] = await twoServers();
    expect(await one.append(0, ['a', 'b'])).toEqual({ kept: true, position: 2 });
    expect(await two.append(0, ['c'])).toEqual({
      kept: false,
      missed: { entries: ['a', 'b'], position: 2 },
    });
    expect(await two.append(2, ['c'])).toEqual({ kept: true, position: 3 });
    expect(await one.read(2)).toEqual({ entries: ['c'], position: 3 });
    expect(await one.read(3)).toEqual({ entries: [], position: 3 });
  });

  test('gives a snapshot and what follows to a server whose position is trimmed', async () => {
    const [one, two] = await twoServers();
    const entries = ['a', 'b', 'c', 'd', '-', 'e'];
    for (const [index, entry] of entries.entries()) await one.append(index, [entry]);
    await one.fold(6, 'abcde');
    await one.append(6, ['f']);
    const missed = { snapshot: 'abcde', earlier: ['d', '-', 'e'], entries: ['f'], position: 7 };
    expect(await two.append(1, ['x'])).toEqual({ kept: false, missed });
    expect(await two.append(7, ['x'])).toEqual({ kept: true, position: 8 });
  });

  test('reads more than fits in one reply', async () => {
    const [one, two] = await twoServers();
    const entries = Array.from({ length: 510 }, (_, index) => `${index}`);
    for (const [index, entry] of entries.entries()) await one.append(index, [entry]);
    const more = [...entries, ...entries];
    await one.append(510, more);
    const all = [...entries, ...more];
    expect(await two.read(0)).toEqual({ entries: all, position: all.length });
    expect((await two.append(all.length, ['y'])).kept).toBe(true);
  });

  test('notices that Redis has lost what it had taken', async () => {
    const [one, two] = await twoServers();
    await one.append(0, ['a']);
    await one.append(1, ['lost']);
    // As after a failover to a replica that was behind: another history of the same length.
    const client = connect();
    const stem = `petstore-mock:{log-${logs}}`;
    await client.run('XDEL', `${stem}:entries`, '2-0');
    await client.run('XADD', `${stem}:entries`, '3-0', 'by', 'other', 'e', 'b', 'e', 'c');
    await client.run('HSET', `${stem}:head`, 'at', '3', 'by', 'other');
    expect(await one.append(2, ['x'])).toEqual({
      kept: false,
      missed: { snapshot: 'start', earlier: [], entries: ['a', 'b', 'c'], position: 3 },
    });
    expect(await two.read(0)).toEqual({ entries: ['a', 'b', 'c'], position: 3 });
  });

  test('keeps an append only once if its reply was lost with the connection', async () => {
    const [one] = await twoServers();
    const proxy = await CutProxy.start(redis.port);
    const through = connect(proxy.port);
    const two = new RedisLog(through, `log-${logs}`, TEXTS, 2);
    await two.read(0);
    proxy.become('cut at reply');
    expect(await two.append(0, ['a', 'b'])).toEqual({ kept: true, position: 2 });
    expect(await one.read(0)).toEqual({ entries: ['a', 'b'], position: 2 });
    expect(await two.append(2, ['c'])).toEqual({ kept: true, position: 3 });
    proxy.close();
  });

  test('does not deny a removal whose reply was lost with its connection', async () => {
    const [one] = await twoServers();
    const proxy = await CutProxy.start(redis.port);
    const through = connect(proxy.port);
    expect(await RedisLog.remove(through, 'none')).toBe(false);
    proxy.become('cut at reply');
    const removed = RedisLog.remove(through, `log-${logs}`);
    await expect(removed).rejects.toMatchObject({ maybeDone: true });
    await expect(one.read(0)).rejects.toThrow(LogGoneError);
    expect(await RedisLog.remove(through, `log-${logs}`)).toBe(false);
    proxy.close();
  });

  /** The second append of a server, which the log has taken and whose reply does not arrive. */
  async function appendWithoutReply() {
    const [one] = await twoServers();
    const proxy = await CutProxy.start(redis.port);
    const two = new RedisLog(connect(proxy.port), `log-${logs}`, TEXTS, 2);
    await two.append(0, ['a']);
    proxy.become('lose replies');
    const append = two.append(1, ['b']);
    while ((await one.read(0)).position < 2);
    return { one, two, proxy, append };
  }

  test('does not repeat an append that may have been trimmed since', async () => {
    const { one, two, proxy, append } = await appendWithoutReply();
    await one.append(2, ['c', 'd', 'e', 'f']);
    await one.fold(6, 'abcdef');
    proxy.cut();
    await expect(append).rejects.toMatchObject({ maybeDone: true });
    const read = await two.read(1);
    expect(read).toMatchObject({ snapshot: 'abcdef', entries: [], position: 6 });
    expect(await two.append(6, ['g'])).toEqual({ kept: true, position: 7 });
    proxy.close();
  });

  test('does not deny an append that it took before it refused to', async () => {
    const { two, proxy, append } = await appendWithoutReply();
    await connect().run('ACL', 'SETUSER', 'default', '-evalsha');
    proxy.cut();
    await expect(append).rejects.toMatchObject({ maybeDone: true });
    await connect().run('ACL', 'SETUSER', 'default', '+evalsha');
    expect(await two.read(1)).toEqual({ entries: ['b'], position: 2 });
    proxy.close();
  });

  test('takes nothing more after it was removed', async () => {
    const [one] = await twoServers();
    await one.append(0, ['a']);
    await RedisLog.remove(connect(), `log-${logs}`);
    await expect(one.append(1, ['b'])).rejects.toThrow(LogGoneError);
    await expect(one.fold(1, 'a')).resolves.toBeUndefined();
    expect(await connect().run('KEYS', `*{log-${logs}}*`)).toEqual([]);
  });
});
