import { expect, test } from 'vitest';
import { CHANGES } from '../../src/scenario/state-shape.ts';
import { readAs, readingAs } from '../../src/shape/read-as.ts';
import { atOnce } from '../../src/work.ts';

const ids = Array.from({ length: 100 }, (_, index) => index + 1);

const records = ids.map((id) => ({ id, name: 'Rex' }));

const long = { animals: records, orders: { set: [{ id: 1 }], remove: ids } };

test.each([
  ['valid', long],
  ['wrong', { ...long, animals: [...records, { id: 'x' }], inventory: { set: 1 }, pets: [] }],
])('a %s value is read the same in steps and at once', (_name, value) => {
  const work = readingAs(CHANGES, value);
  let steps = 0;
  while (work.next().done !== true) steps += 1;
  expect(steps).toBeGreaterThanOrEqual(2 * ids.length);
  const [inSteps, inOne] = [atOnce(readingAs(CHANGES, value)), readAs(CHANGES, value)];
  expect(inSteps.ok).toBe(inOne.ok);
  if (inSteps.ok) expect(inSteps).toEqual(inOne);
  else if (!inOne.ok) {
    expect(inSteps.problems).toHaveLength(inOne.problems.length);
    expect(inSteps.problems).toEqual(expect.arrayContaining([...inOne.problems]));
  }
});
