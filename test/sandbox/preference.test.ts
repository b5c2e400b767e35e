import { expect, onTestFinished, test, vi } from 'vitest';

test('a scenario that could not be read is read again for the next request', async () => {
  let reads = 0;
  vi.resetModules();
  vi.doMock('../../src/scenario/load-scenario.ts', () => ({
    loadScenarios: async () => {
      reads += 1;
      if (reads === 1) throw new Error('too many open files');
      return [];
    },
  }));
  onTestFinished(() => {
    vi.doUnmock('../../src/scenario/load-scenario.ts');
    vi.resetModules();
  });
  const { readPrefer } = await import('../../src/sandbox/preference.ts');
  await expect(readPrefer('scenario=slow')).rejects.toThrow('too many open files');
  expect(await readPrefer('scenario=slow')).toMatchObject({ scenario: 'slow' });
  expect(await readPrefer('scenario=slow')).toMatchObject({ scenario: 'slow' });
  expect(reads).toBe(2);
});
