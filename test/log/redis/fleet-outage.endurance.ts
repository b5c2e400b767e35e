import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, onTestFinished, test } from 'vitest';
import { type RunningServer, type ServerOptions, startServer } from '../../../src/server.ts';
import { asker } from '../../helpers/ask.ts';
import { CutProxy } from '../../helpers/cut-proxy.ts';
import { describeWithRedis, RedisServer } from '../../helpers/redis.ts';

const PASSWORD = 'not-to-be-shown';

describeWithRedis('the Redis of a fleet', () => {
  let redis: RedisServer | undefined;
  const running: RunningServer[] = [];
  afterEach(async () => {
    await Promise.all(running.splice(0).map((server) => server.close()));
    await redis?.end();
  });

  async function join(shared: string, options: ServerOptions = {}): Promise<RunningServer> {
    const server = await startServer({ port: 0, ...options, shared });
    running.push(server);
    return server;
  }

  test('is killed and comes back: 503 meanwhile, and nothing acknowledged is lost', async () => {
    redis = await RedisServer.start('--appendonly', 'yes', '--appendfsync', 'always');
    const [one, two] = [await join(redis.url), await join(redis.url)].map(({ port }) =>
      asker(port, ''),
    );
    if (one === undefined || two === undefined) throw new Error('no server');
    expect((await one('DELETE', '/v1/store/orders/1')).status).toBe(204);
    expect((await two('DELETE', '/v1/store/orders/1')).status).toBe(409);
    await redis.kill();
    const refused = await one('DELETE', '/v1/store/orders/4');
    expect(refused).toMatchObject({ status: 503, json: { code: 'not_saved' } });
    expect(refused.text).toContain('cannot be reached (');
    expect(await two('GET', '/__mock/health')).toMatchObject({ status: 503 });
    expect(await two('GET', '/__mock/state')).toMatchObject({ status: 503 });
    await redis.resume();
    while ((await two('GET', '/__mock/health')).status !== 200) await sleep(50);
    while ((await one('GET', '/__mock/health')).status !== 200) await sleep(50);
    expect((await two('DELETE', '/v1/store/orders/1')).status).toBe(409);
    expect((await two('DELETE', '/v1/store/orders/4')).status).toBe(204);
    expect((await one('DELETE', '/v1/store/orders/4')).status).toBe(409);
    const { json } = await two('POST', '/__mock/requests/count', { body: {} });
    expect(json).toEqual({ count: 5, complete: true });
  });

  test('forgets everything: the servers go back together', async () => {
    redis = await RedisServer.start();
    const [one, two] = [await join(redis.url), await join(redis.url)].map(({ port }) =>
      asker(port, ''),
    );
    if (one === undefined || two === undefined) throw new Error('no server');
    expect((await one('DELETE', '/v1/store/orders/1')).status).toBe(204);
    await redis.kill();
    await redis.resume();
    expect((await two('DELETE', '/v1/store/orders/1')).status).toBe(204);
    expect((await one('DELETE', '/v1/store/orders/1')).status).toBe(409);
  });

  test('forgets everything, and a server of another fleet comes first: the others answer 503', async () => {
    redis = await RedisServer.start();
    const one = asker((await join(redis.url)).port, '');
    expect((await one('DELETE', '/v1/store/orders/1')).status).toBe(204);
    await redis.kill();
    await redis.resume();
    const two = asker((await join(redis.url, { seed: 2 })).port, '');
    expect((await two('DELETE', '/v1/store/orders/1')).status).toBe(204);
    const refused = await one('DELETE', '/v1/store/orders/1');
    expect(refused).toMatchObject({ status: 503, json: { code: 'not_saved' } });
    expect(refused.text).toContain('seed: the fleet has 2, this server 1');
    expect(await one('GET', '/__mock/health')).toMatchObject({ status: 503 });
  });

  test('fails over: the address leads to another one, which has all that the first one had', async () => {
    redis = await RedisServer.start();
    const other = await RedisServer.start('--replicaof', '127.0.0.1', String(redis.port));
    onTestFinished(() => other.end());
    const proxy = await CutProxy.start(redis.port);
    onTestFinished(() => proxy.close());
    const one = asker((await join(`redis://127.0.0.1:${proxy.port}`)).port, '');
    expect((await one('DELETE', '/v1/store/orders/1')).status).toBe(204);
    await redis.command('WAIT', '1', '0');
    await expect(join(other.url)).rejects.toThrow('it is a replica, which accepts no writes');
    await other.command('REPLICAOF', 'NO', 'ONE');
    await redis.command('REPLICAOF', '127.0.0.1', String(other.port));
    proxy.target = other.port;
    expect((await one('DELETE', '/v1/store/orders/1')).status).toBe(409);
    expect((await one('DELETE', '/v1/store/orders/4')).status).toBe(204);
  });

  test('is full: a sandbox is deleted all the same, and the reply says so', async () => {
    redis = await RedisServer.start();
    const one = asker((await join(redis.url)).port, '');
    expect((await one('DELETE', '/~full/v1/store/orders/1')).status).toBe(204);
    await redis.command('CONFIG', 'SET', 'maxmemory', '1');
    expect(await one('DELETE', '/v1/store/orders/1')).toMatchObject({ status: 503 });
    const deleted = await one('DELETE', '/__mock/sandboxes/full');
    expect(deleted).toMatchObject({ status: 503 });
    expect(deleted.text).toContain('the sandbox is deleted');
    await redis.command('CONFIG', 'SET', 'maxmemory', '0');
    expect((await one('DELETE', '/__mock/sandboxes/full')).status).toBe(404);
    expect((await one('DELETE', '/v1/store/orders/1')).status).toBe(204);
  });

  test('refuses a wrong password at once, and shows none', async () => {
    redis = await RedisServer.start('--requirepass', PASSWORD);
    await join(`redis://:${PASSWORD}@127.0.0.1:${redis.port}`);
    const wrong = join(`redis://:${PASSWORD}x@127.0.0.1:${redis.port}`);
    await expect(wrong).rejects.toThrow(
      /^redis:\/\/127\.0\.0\.1:\d+\/0 cannot be reached \(WRONGPASS /,
    );
    await expect(wrong).rejects.not.toThrow(PASSWORD);
  });
});
