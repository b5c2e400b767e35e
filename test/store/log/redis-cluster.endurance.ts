import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startServer } from '../../../src/server.ts';
import { readRedisAddress } from '../../../src/store/log/redis-address.ts';
import { RedisConnection } from '../../../src/store/log/redis-connection.ts';
import { asker } from '../../helpers/ask.ts';
import { describeWithRedis, RedisServer } from '../../helpers/redis.ts';

const SLOTS = 16_384;

describeWithRedis('a Redis Cluster', () => {
  const nodes: RedisServer[] = [];
  /** A command for one node alone. */
  async function command(port: number, ...args: readonly string[]): Promise<string> {
    const { createClient } = await import('@redis/client');
    const client = createClient({ socket: { port, host: '127.0.0.1' } });
    await client.connect();
    try {
      return String(await client.sendCommand(args));
    } finally {
      client.destroy();
    }
  }

  beforeAll(async () => {
    for (const half of [0, 1]) {
      const node = await RedisServer.start('--cluster-enabled', 'yes');
      nodes.push(node);
      const slots = Array.from({ length: SLOTS / 2 }, (_, slot) =>
        String((half * SLOTS) / 2 + slot),
      );
      await command(node.port, 'CLUSTER', 'ADDSLOTS', ...slots);
    }
    const [one, two] = nodes;
    if (one === undefined || two === undefined) throw new Error('no node');
    await command(one.port, 'CLUSTER', 'MEET', '127.0.0.1', String(two.port));
    for (const { port } of nodes) {
      while (!(await command(port, 'CLUSTER', 'INFO')).includes('cluster_state:ok'))
        await sleep(100);
    }
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
    const sizes = await Promise.all(nodes.map(({ port }) => command(port, 'DBSIZE')));
    expect(Math.min(...sizes.map(Number))).toBeGreaterThan(0);
    for (const server of servers) await server.close();
  });

  test('is refused with a database number, which it does not have', async () => {
    const [node] = nodes;
    const address = readRedisAddress(`redis://127.0.0.1:${node?.port}/1`);
    if (address === undefined) throw new Error('not an address');
    const redis = new RedisConnection(address);
    await expect(redis.run('PING')).rejects.toThrow('SELECT is not allowed in cluster mode');
    redis.close();
  });
});
