import { expect, test } from 'vitest';
import { FleetLoad } from '../../helpers/fleet-load.ts';
import { startThree } from '../../helpers/fleet-processes.ts';
import { describeWithRedis } from '../../helpers/redis.ts';

const CLIENTS = 9;
const REPLIES = 2000;
const KILLS = 10;

describeWithRedis('a fleet of three servers', () => {
  test('answers many clients as one server would', async () => {
    const load = await FleetLoad.start((await startThree()).fleet, CLIENTS);
    await load.replies(REPLIES);
    await load.verify();
  });

  test('loses nothing and does nothing twice when its Redis is killed', async () => {
    const { redis, fleet } = await startThree();
    const load = await FleetLoad.start(fleet, CLIENTS);
    for (let kill = 0; kill < KILLS; kill += 1) {
      await load.replies(1 + ((kill * 37) % 40));
      await redis.kill();
      await fleet.becomes(kill % fleet.count, 503);
      expect(await redis.resume()).toBe(true);
      await fleet.becomes(kill % fleet.count, 200);
    }
    await load.verify();
  });
});
