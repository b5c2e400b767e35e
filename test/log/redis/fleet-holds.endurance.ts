import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { type Outcome, startThree } from '../../helpers/fleet-processes.ts';
import { describeWithRedis } from '../../helpers/redis.ts';

const ROUNDS = 10;
const CALLS = 30;

/** Milliseconds from a release to the kill or the pause: before, while and after it spreads. */
const MOMENTS = [0, 5, 10, 20, 40, 60, 80, 100, 120, 150];

interface Released {
  readonly released: readonly { readonly target: string }[];
}

describeWithRedis('a fleet of three servers', () => {
  test('has sent every reply that it says was released, whichever server is killed or paused', async () => {
    const { fleet } = await startThree();
    for (let round = 0; round < ROUNDS; round += 1) {
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
      await sleep(MOMENTS[round]);
      if (isKill) await fleet.replace(victim);
      else fleet.signal(victim, 'SIGSTOP');
      const { released } = Object((await releasing).json) as Released;
      if (!isKill) fleet.signal(victim, 'SIGCONT');
      await Promise.all(calls);

      const isSent = (target: string): boolean => typeof arrived.get(target) === 'object';
      expect(released.map(({ target }) => target).filter((it) => !isSent(it))).toEqual([]);
      // The replies of the other two, and those of a server that goes on, are all sent.
      const sent = targets.filter(isSent).length;
      expect(sent).toBeGreaterThanOrEqual(isKill ? (2 * CALLS) / 3 : CALLS);
      expect(released.length).toBeGreaterThanOrEqual(CALLS / 3);
    }
  });
});
