import { expect, test } from 'vitest';
import { failuresOf, sweepClient } from '../helpers/swept.ts';

test('a client that relies only on the document passes every run', async () => {
  const { code, swept } = await sweepClient('correct');
  expect(failuresOf(swept)).toEqual([]);
  expect(swept.runs.flatMap(({ findings }) => findings)).toEqual([]);
  expect(code).toBe(0);
  expect(swept.runs.length).toBeGreaterThan(20);
});

test('a sweep finds that a client expects an Error with every 409, and nothing else', async () => {
  const { code, swept } = await sweepClient('error-on-409');
  expect(failuresOf(swept)).toEqual(['conflict-body=empty', 'conflict-body=problem']);
  expect(code).toBe(3);
  expect(swept.runs.flatMap(({ findings }) => findings)).toEqual([]);
});

test('a sweep finds that a client rounds ids, and nothing else', async () => {
  const { code, swept } = await sweepClient('rounds-ids');
  expect(failuresOf(swept)).toEqual(['assigned-ids=int64']);
  expect(code).toBe(3);
  const example = expect.stringMatching(/^GET \/v1\/pets\/\d+: \d+ is unknown/);
  expect(swept.runs.flatMap(({ findings }) => findings)).toEqual([
    { code: 'rounded-id', count: 1, example },
  ]);
});
