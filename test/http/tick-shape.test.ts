import { createHook } from 'node:async_hooks';
import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test, vi } from 'vitest';

test('one object of the queue of ticks outlives garbage collections', async () => {
  // Another test of this process may have kept one already.
  vi.resetModules();
  const { keepTickShape } = await import('../../src/http/tick-shape.ts');
  const ticks: WeakRef<object>[] = [];
  const hook = createHook({
    init(_id, type, _trigger, resource) {
      if (type === 'TickObject') ticks.push(new WeakRef(resource));
    },
  });
  hook.enable();
  process.nextTick(() => {});
  for (const _time of ['first', 'second']) keepTickShape();
  hook.disable();
  await setImmediate();
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  expect(ticks).toHaveLength(2);
  expect(ticks.map((it) => it.deref() !== undefined)).toEqual([false, true]);
});
