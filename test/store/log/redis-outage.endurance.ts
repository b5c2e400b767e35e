import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { LogError } from '../../../src/store/log/change-log.ts';
import { readRedisAddress } from '../../../src/store/log/redis-address.ts';
import { RedisConnection } from '../../../src/store/log/redis-connection.ts';
import { RedisLog } from '../../../src/store/log/redis-log.ts';
import { describeWithRedis, RedisServer } from '../../helpers/redis.ts';

const TEXTS = {
  writeEntry: String,
  readEntry: String,
  writeSnapshot: String,
  readSnapshot: String,
  isLasting: () => true,
};

describeWithRedis('while Redis does not answer', () => {
  let redis: RedisServer;
  let connection: RedisConnection;
  let log: RedisLog<string, string>;
  beforeEach(async () => {
    redis = await RedisServer.start('--appendonly', 'yes', '--appendfsync', 'always');
    const address = readRedisAddress(redis.url);
    if (address === undefined) throw new Error('not an address');
    connection = new RedisConnection(address);
    log = new RedisLog(connection, 'log', TEXTS, 10);
    await log.create('start');
    await log.append(0, ['a']);
  });
  afterEach(async () => {
    connection.close();
    await redis.end();
  });

  test('an append waits for a Redis that is paused, and is kept once', async () => {
    redis.freeze();
    const append = log.append(1, ['b']);
    await sleep(3000);
    expect(connection.problem).toContain('cannot be reached (no reply within 2000 ms)');
    redis.thaw();
    expect(await append).toEqual({ kept: true, position: 2 });
    expect(await log.read(0)).toEqual({ entries: ['a', 'b'], position: 2 });
    expect(connection.problem).toBeUndefined();
  });

  test('an append that waited too long may be kept or not, and the log shows it later', async () => {
    redis.freeze();
    const error: unknown = await log.append(1, ['b']).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(LogError);
    expect(Object(error).maybeDone).toBe(true);
    await expect(log.append(1, ['c'])).rejects.toThrow('cannot be reached');
    redis.thaw();
    const { entries } = await followed(log);
    expect([[], ['b']]).toContainEqual(entries);
  });

  test('everything continues once a killed Redis is back', async () => {
    await redis.kill();
    await expect(log.append(1, ['b'])).rejects.toThrow('ECONNREFUSED');
    await redis.resume();
    expect((await followed(log)).entries).toEqual([]);
    expect(await log.append(1, ['c'])).toEqual({ kept: true, position: 2 });
  });
});

/** What came after the first entry, as soon as Redis answers. */
async function followed(log: RedisLog<string, string>) {
  for (;;) {
    try {
      return await log.read(1);
    } catch {
      await sleep(100);
    }
  }
}
