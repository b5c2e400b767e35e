import { expect, test } from 'vitest';
import { readScenario } from '../../src/scenario/read-scenario.ts';
import { restoreStore } from '../../src/store/store.ts';
import {
  copyOfSandbox,
  expectEqualCopies,
  shown,
  starter,
  texts,
} from '../helpers/sandbox-histories.ts';
import { STEPS_A_TURN, turnsBeside } from '../helpers/turns.ts';

test('changes applied to another copy give an equal sandbox, and undo gives the one before', () =>
  expectEqualCopies(8));

test('changes and snapshots name the records that a server can load, and do not hold them', async () => {
  const scenario = readScenario({ generate: { animals: 500, orders: 500 } }, 'request');
  if (!scenario.ok) throw new Error('the scenario is wrong');
  const start = await starter([scenario.value]);
  const [here, there, late] = [copyOfSandbox(), copyOfSandbox(), copyOfSandbox()];
  const works = [
    () => {
      here.sandbox.use(start);
      restoreStore(here.sandbox.world.store, start.store);
    },
    () => here.sandbox.world.store.animals.clear(),
    () => here.sandbox.reset(new Set(['scenario', 'clock'])),
  ];
  for (const work of works) {
    const { change } = here.replica.record(work);
    const text = texts.writeEntry(change ?? expect.fail());
    expect(text.length).toBeLessThan(3000);
    there.replica.apply(await texts.readEntry(text));
    expect(shown(there)).toEqual(shown(here));
  }
  const snapshot = await texts.writeSnapshot(here.replica.snapshot());
  expect(snapshot.length).toBeLessThan(3000);
  late.replica.restore(await texts.readSnapshot(snapshot), []);
  expect(shown(late)).toEqual(shown(here));
});

test('a snapshot of many records is written in turns with requests', async () => {
  const [here, late] = [copyOfSandbox(), copyOfSandbox()];
  const { animals } = here.sandbox.world.store;
  const add = (id: bigint) => animals.set({ id, name: 'Rex', categoryId: 2n ** 62n });
  here.replica.record(() => Array.from({ length: 200 }, (_, index) => add(BigInt(index + 1000))));
  const written = await turnsBeside(() => texts.writeSnapshot(here.replica.snapshot()));
  expect(written.turns).toBeGreaterThanOrEqual(200 / STEPS_A_TURN);
  late.replica.restore(await texts.readSnapshot(written.result), []);
  expect(shown(late)).toEqual(shown(here));
});
