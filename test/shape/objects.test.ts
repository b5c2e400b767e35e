import { expect, test } from 'vitest';
import { object, optional } from '../../src/shape/objects.ts';
import { choice, list, readAs } from '../../src/shape/shapes.ts';

test('a misfit has a hint, and nobody reads on after one more than a message lists', () => {
  const pet = object({ status: optional(choice(['available', 'sold']), 'Its status.') });
  for (const wrong of [{ statis: 'sold' }, { status: 'sould' }]) {
    const reading = readAs(list(pet), Array(1000).fill(wrong));
    const found = reading.ok ? [] : reading.problems.map((it) => it.found);
    const hinted = found.filter((it) => /\(did you mean (?:status|sold)\?\)$/.test(it));
    expect([found.length, hinted.length]).toEqual([21, 21]);
  }
});
