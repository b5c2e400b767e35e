import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startServer } from '../../../src/server.ts';
import { parseRedisAddress } from '../../../src/storage/redis/address.ts';
import { RedisConnection } from '../../../src/storage/redis/redis-connection.ts';
import { serverFor } from '../../helpers/deployment.ts';
import { describeWithRedis, RedisServer } from '../../helpers/redis.ts';
import { asker } from '../../helpers/wire.ts';

const SLOTS = 16_384;
const CLUSTER_NODE = ['--cluster-enabled', 'yes', '--appendonly', 'yes'];

describeWithRedis('a Redis Cluster', () => {
  const nodes: RedisServer[] = [];
  async function isWhole(): Promise<void> {
    for (const node of nodes) {
      while (!(await node.command('CLUSTER', 'INFO')).includes('cluster_state:ok'))
        await sleep(100);
    }
  }

  beforeAll(async () => {
    for (const half of [0, 1]) {
      const node = await RedisServer.start(...CLUSTER_NODE);
      nodes.push(node);
      const slots = Array.from({ length: SLOTS / 2 }, (_, slot) =>
        String((half * SLOTS) / 2 + slot),
      );
      await node.command('CLUSTER', 'ADDSLOTS', ...slots);
    }
    const [one, two] = nodes;
    if (one === undefined || two === undefined) throw new Error('no node');
    await one.command('CLUSTER', 'MEET', '127.0.0.1', String(two.port));
    await isWhole();
  });
  afterAll(() => Promise.all(nodes.map((node) => node.end())));

  test('spreads the sandboxes of a fleet over its nodes, and keeps each whole', async () => {
    const servers = [];
    for (const { port } of nodes) {
      servers.push(await startServer({ port: 0, shared: `redis://127.0.0.1:${port}` }));
    }
    const [one, two] = servers.map(({ port }) => asker(port, ''));
    if (one === undefined || two === undefined) throw new Error('no server');
    for (let number = 0; number < 8; number += 1) {
      const order = `/~sandbox-${number}/v1/store/orders/1`;
      expect((await one('DELETE', order)).status).toBe(204);
      expect((await two('DELETE', order)).status).toBe(409);
    }
    const sizes = await Promise.all(nodes.map((node) => node.command('DBSIZE')));
    expect(Math.min(...sizes.map(Number))).toBeGreaterThan(0);
    for (const server of servers) await server.close();
  });

  test('loses a node: 503 until it is back, and nothing acknowledged is lost', async () => {
    const [first, second] = nodes;
    const server = await serverFor({ shared: `redis://127.0.0.1:${first?.port}` });
    const ask = asker(server.port, '');
    const orders = Array.from({ length: 8 }, (_, number) => `/~lost-${number}/v1/store/orders/1`);
    for (const order of orders) expect((await ask('DELETE', order)).status).toBe(204);
    await second?.kill();
    while ((await ask('GET', '/__mock/health')).status !== 503) await sleep(50);
    await second?.resume();
    await isWhole();
    while ((await ask('GET', '/__mock/health')).status !== 200) await sleep(50);
    for (const order of orders) expect((await ask('DELETE', order)).status).toBe(409);
  });

  test('is refused with a database number, which it does not have', async () => {
    const [node] = nodes;
    const address = parseRedisAddress(`redis://127.0.0.1:${node?.port}/1`);
    if (address === undefined) throw new Error('not an address');
    const redis = new RedisConnection(address);
    await expect(redis.run(['PING'], 'reads')).rejects.toThrow(
      'SELECT is not allowed in cluster mode',
    );
    redis.close();
  });
});
