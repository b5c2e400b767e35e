import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { type RunningServer, type ServerOptions, startServer } from '../../src/server.ts';
import { asker } from '../helpers/ask.ts';
import { describeWithRedis, RedisServer } from '../helpers/redis.ts';

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

  test('tells at the start what it can lose, and never its password', async () => {
    redis = await RedisServer.start('--requirepass', PASSWORD);
    const notices: string[] = [];
    const onNotice = (notice: string) => notices.push(notice);
    await join(`redis://:${PASSWORD}@127.0.0.1:${redis.port}`, { onNotice });
    expect(notices).toEqual([
      `redis://127.0.0.1:${redis.port}/0 keeps nothing on disk: all sandboxes are lost when it restarts. Set appendonly yes`,
    ]);
    const wrong = join(`redis://:${PASSWORD}x@127.0.0.1:${redis.port}`);
    await expect(wrong).rejects.toThrow(
      /^redis:\/\/127\.0\.0\.1:\d+\/0 cannot be reached \(WRONGPASS /,
    );
    await expect(wrong).rejects.not.toThrow(PASSWORD);
  });
});
