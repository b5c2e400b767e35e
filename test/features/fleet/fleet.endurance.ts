import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, onTestFinished, test } from 'vitest';
import { startServer } from '../../../src/index.ts';
import type { RunningServer } from '../../../src/server/server.ts';
import { CutProxy, MODES } from '../../helpers/cut-proxy.ts';
import { FleetLoad, type Outcome, startThree } from '../../helpers/fleet.ts';

import { describeWithRedis, RedisServer } from '../../helpers/redis.ts';
import { asker } from '../../helpers/wire.ts';

const PASSWORD = 'not-to-be-shown';

/** An entry that the clients leave alone. */
const QUIET = '/v1/inventory/10';

/** How many replies the clients get before the next trouble. */
const some = (round: number): number => 1 + ((round * 37) % 40);

describeWithRedis('a fleet of three servers', () => {
  test('loses nothing and does nothing twice when its servers are killed', async () => {
    const KILLS = 15;
    const { fleet } = await startThree();
    const rules = Array.from({ length: KILLS }, (_, kill) => {
      return { on: 'getPet', where: { petId: kill + 1 }, calls: '1-2', reply: { status: 418 } };
    });
    await fleet.answer(0, 'PUT', '/__mock/scenario', { scenario: { rules } });
    const load = await FleetLoad.start(fleet);
    for (let kill = 0; kill < KILLS; kill += 1) {
      await load.replies(some(kill));
      const asked = Array.from({ length: 6 }, (_, index) =>
        fleet.ask(index % fleet.count, 'GET', `/v1/pets/${kill + 1}`),
      );
      await fleet.replace(kill % fleet.count);
      const outcomes = await Promise.all(asked);
      const forced = outcomes.filter((it) => Object(it).status === 418).length;
      const lost = outcomes.filter((it) => it === 'unknown').length;
      expect(forced).toBeLessThanOrEqual(2);
      expect(forced + lost).toBeGreaterThanOrEqual(2);
      const count = { operation: 'getPet', status: 418 };
      const { json } = await fleet.answer(0, 'POST', '/__mock/requests/count', count);
      expect(json).toEqual({ count: 2 * (kill + 1), complete: true });
    }
    await load.verify();
  });

  test('loses nothing and does nothing twice when its Redis is killed', async () => {
    const { redis, fleet } = await startThree();
    const load = await FleetLoad.start(fleet);
    await load.replies(500);
    for (let kill = 0; kill < 10; kill += 1) {
      await load.replies(some(kill));
      await redis.kill();
      await fleet.becomes(kill % fleet.count, 503);
      expect(await redis.resume()).toBe(true);
      await fleet.becomes(kill % fleet.count, 200);
    }
    await load.verify();
  });

  test('answers from the present after a server was paused', async () => {
    const { fleet } = await startThree();
    const load = await FleetLoad.start(fleet);
    for (let pause = 0; pause < 6; pause += 1) {
      const [paused, other] = [pause % fleet.count, (pause + 1) % fleet.count];
      await load.replies(some(pause));
      fleet.signal(paused, 'SIGSTOP');
      await fleet.answer(other, 'PATCH', QUIET, { quantity: pause });
      await sleep(500);
      fleet.signal(paused, 'SIGCONT');
      const { json } = await fleet.answer(paused, 'GET', '/v1/inventory');
      expect(json).toContainEqual(expect.objectContaining({ petId: 10, quantity: pause }));
    }
    await load.verify();
  });

  test('answers 503 while its Redis is paused, and goes on after it', async () => {
    const { redis, fleet } = await startThree();
    const load = await FleetLoad.start(fleet);
    for (const isLong of [false, true]) {
      await load.replies(30);
      redis.freeze();
      const asked = fleet.ask(0, 'PATCH', QUIET, { quantity: 1 });
      await fleet.allBecome(503);
      // So long that requests end without knowing what became of them.
      if (isLong) expect(['unknown', 'not done']).toContain(await asked);
      redis.thaw();
      await fleet.allBecome(200);
    }
    await load.replies(30);
    await load.verify();
  });

  test('loses nothing and does nothing twice when a server is cut off', async () => {
    let proxy: CutProxy | undefined;
    const { fleet } = await startThree(async (port) => {
      proxy = await CutProxy.start(port);
      return proxy.port;
    });
    if (proxy === undefined) throw new Error('no proxy');
    onTestFinished(() => proxy?.close());
    const load = await FleetLoad.start(fleet);
    for (let cut = 0; cut < 10; cut += 1) {
      await load.replies(some(cut));
      const mode = MODES[cut % MODES.length] ?? 'pass';
      proxy.become(mode);
      if (mode.startsWith('lose')) await fleet.becomes(0, 503);
      else await fleet.answer(0, 'GET', '/v1/pets/1');
      proxy.cut();
      await fleet.becomes(0, 200);
    }
    await load.verify();
  });

  test('has sent every reply that it says was released, whichever server is killed or paused', async () => {
    const CALLS = 30;
    const { fleet } = await startThree();
    // Milliseconds from a release to the kill or the pause: before, while and after it spreads.
    for (const [round, moment] of [0, 5, 10, 20, 40, 60, 80, 100, 120, 150].entries()) {
      const victim = round % fleet.count;
      const other = (round + 1) % fleet.count;
      const hold = `round-${round}`;
      await fleet.answer(other, 'POST', '/__mock/holds', { on: 'getPet', hold });
      const targets = Array.from({ length: CALLS }, (_, call) => `/v1/pets/${call}?${hold}`);
      const arrived = new Map<string, Outcome>();
      const calls = targets.map(async (target, index) => {
        arrived.set(target, await fleet.ask(index % fleet.count, 'GET', target));
      });
      const count = { hold, atLeast: CALLS, within: 'PT30S' };
      const counted = await fleet.answer(other, 'POST', '/__mock/requests/count', count);
      expect(counted.json).toMatchObject({ count: CALLS });

      const isKill = round % 2 === 0;
      const which = { name: hold, open: true, newestFirst: isKill };
      const releasing = fleet.answer(other, 'POST', '/__mock/holds/release', which);
      await sleep(moment);
      if (isKill) await fleet.replace(victim);
      else fleet.signal(victim, 'SIGSTOP');
      const { json } = await releasing;
      if (!isKill) fleet.signal(victim, 'SIGCONT');
      await Promise.all(calls);

      const isSent = (target: string): boolean => typeof arrived.get(target) === 'object';
      const released: string[] = Object(json).released.map((it: { target: string }) => it.target);
      expect(released.filter((it) => !isSent(it))).toEqual([]);
      // The replies of the other two, and those of a server that goes on, are all sent.
      const sent = targets.filter(isSent).length;
      expect(sent).toBeGreaterThanOrEqual(isKill ? (2 * CALLS) / 3 : CALLS);
      expect(released.length).toBeGreaterThanOrEqual(CALLS / 3);
    }
  });
});

describeWithRedis('the Redis of a fleet', () => {
  let redis: RedisServer | undefined;
  const running: RunningServer[] = [];
  afterEach(async () => {
    await Promise.all(running.splice(0).map((server) => server.close()));
    await redis?.end();
  });

  async function join(shared: string): Promise<RunningServer> {
    const server = await startServer({ port: 0, shared, drain: 0 });
    running.push(server);
    return server;
  }

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

  test('is paused: 503 within 5 seconds, at once from then on, and a line when it goes and is back', async () => {
    redis = await RedisServer.start();
    const notices: string[] = [];
    const onNotice = (notice: string) => notices.push(notice);
    const server = await startServer({ port: 0, shared: redis.url, drain: 0, onNotice });
    running.push(server);
    const one = asker(server.port, '');
    const elapsed = async (meant: string) => {
      const since = performance.now();
      const refused = await one('DELETE', '/v1/store/orders/1');
      expect(refused.status).toBe(503);
      expect(refused.text).toContain(meant);
      return performance.now() - since;
    };
    expect((await one('GET', '/v1/pets/1')).status).toBe(200);
    redis.freeze();
    // Each with as much time for a slow machine as tells it from one more wait.
    expect(await elapsed('the change may have been made')).toBeLessThan(9500);
    expect(await elapsed('the change was not made')).toBeLessThan(9500);
    expect(await elapsed('cannot be reached (no reply within')).toBeLessThan(4500);
    const health = await one('GET', '/__mock/health');
    expect([health.status, health.text]).toEqual([503, expect.stringContaining('no reply within')]);
    redis.thaw();
    await expect.poll(async () => (await one('GET', '/__mock/health')).status).toBe(200);
    // Redis has read the first request by now, and refused it.
    expect((await one('DELETE', '/v1/store/orders/1')).status).toBe(204);
    const shown = `redis://127.0.0.1:${redis.port}/0`;
    expect(notices).toEqual([
      expect.stringContaining(`${shown} cannot be reached`),
      `${shown} can be reached again`,
    ]);
  });

  test('is full: no change is made, and a sandbox is deleted all the same', async () => {
    redis = await RedisServer.start();
    const one = asker((await join(redis.url)).port, '');
    expect((await one('DELETE', '/~full/v1/store/orders/1')).status).toBe(204);
    await redis.command('CONFIG', 'SET', 'maxmemory', '1');
    const refused = await one('DELETE', '/v1/store/orders/1');
    expect(refused).toMatchObject({ status: 503 });
    expect(refused.text).toContain('the change was not made');
    expect((await one('DELETE', '/__mock/sandboxes/full')).status).toBe(204);
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
