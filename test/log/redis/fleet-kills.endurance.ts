import { expect, test } from 'vitest';
import { FleetLoad } from '../../helpers/fleet-load.ts';
import { startThree } from '../../helpers/fleet-processes.ts';
import { describeWithRedis } from '../../helpers/redis.ts';

const CLIENTS = 9;
const KILLS = 30;

describeWithRedis('a fleet of three servers', () => {
  test('loses nothing and does nothing twice when its servers are killed', async () => {
    const { fleet } = await startThree();
    const rules = Array.from({ length: KILLS }, (_, kill) => {
      return { on: 'getPet', where: { petId: kill + 1 }, calls: '1-2', reply: { status: 418 } };
    });
    await fleet.answer(0, 'PUT', '/__mock/scenario', { scenario: { rules } });
    const load = await FleetLoad.start(fleet, CLIENTS);
    for (let kill = 0; kill < KILLS; kill += 1) {
      await load.replies(1 + ((kill * 37) % 40));
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
});
