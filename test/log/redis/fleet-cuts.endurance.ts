import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { CutProxy, MODES } from '../../helpers/cut-proxy.ts';
import { FleetLoad } from '../../helpers/fleet-load.ts';
import { startThree } from '../../helpers/fleet-processes.ts';
import { describeWithRedis } from '../../helpers/redis.ts';

const CLIENTS = 9;
const PAUSES_OF_SERVERS = 6;
const PAUSE_MS = 500;
const CUTS = 10;

/** An entry that the clients leave alone. */
const QUIET = '/v1/inventory/10';

describeWithRedis('a fleet of three servers', () => {
  test('answers from the present after a server was paused', async () => {
    const { fleet } = await startThree();
    const load = await FleetLoad.start(fleet, CLIENTS);
    for (let pause = 0; pause < PAUSES_OF_SERVERS; pause += 1) {
      const [paused, other] = [pause % fleet.count, (pause + 1) % fleet.count];
      await load.replies(1 + ((pause * 37) % 40));
      fleet.signal(paused, 'SIGSTOP');
      await fleet.answer(other, 'PATCH', QUIET, { quantity: pause });
      await sleep(PAUSE_MS);
      fleet.signal(paused, 'SIGCONT');
      const { json } = await fleet.answer(paused, 'GET', '/v1/inventory');
      expect(json).toContainEqual(expect.objectContaining({ petId: 10, quantity: pause }));
    }
    await load.verify();
  });

  test('answers 503 while its Redis is paused, and goes on after it', async () => {
    const { redis, fleet } = await startThree();
    const load = await FleetLoad.start(fleet, CLIENTS);
    const all = Array.from({ length: fleet.count }, (_, server) => server);
    for (const isLong of [false, true]) {
      await load.replies(30);
      redis.freeze();
      const asked = fleet.ask(0, 'PATCH', QUIET, { quantity: 1 });
      await Promise.all(all.map((server) => fleet.becomes(server, 503)));
      // So long that requests end without knowing what became of them.
      if (isLong) expect(['unknown', 'not done']).toContain(await asked);
      redis.thaw();
      await Promise.all(all.map((server) => fleet.becomes(server, 200)));
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
    const load = await FleetLoad.start(fleet, CLIENTS);
    for (let cut = 0; cut < CUTS; cut += 1) {
      await load.replies(1 + ((cut * 37) % 40));
      const mode = MODES[cut % MODES.length] ?? 'pass';
      proxy.become(mode);
      if (mode.startsWith('lose')) await fleet.becomes(0, 503);
      else await fleet.answer(0, 'GET', '/v1/pets/1');
      proxy.cut();
      await fleet.becomes(0, 200);
    }
    await load.verify();
  });
});
