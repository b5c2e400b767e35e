import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Kept } from '../../src/service/kept.ts';

const MOST = 100;

test('a cache keeps the latest values within its limit', () => {
  const entry = fc.record({ isText: fc.boolean(), bytes: fc.integer({ min: 0, max: 2 * MOST }) });
  fc.assert(
    fc.property(fc.array(entry, { maxLength: 50 }), (entries) => {
      const kept = new Kept<{ readonly bytes: number }>(MOST);
      const written = entries.map(({ isText, bytes }, index) => {
        const key = isText ? `key ${index}` : index;
        const value = { bytes };
        expect(kept.keep(key, value)).toBe(value);
        // A character of a key takes up to two bytes.
        return { key, value, size: bytes + (typeof key === 'string' ? 2 * key.length : 0) };
      });
      const sizes = written.map(({ size }) => size);
      for (const [index, { key, value }] of written.entries()) {
        // A value too large to be kept drops the older ones, and itself.
        const sums = sizes.slice(index).map((_, to) => sum(sizes.slice(index, index + to + 1)));
        const isKept = sums.every((bytes) => bytes <= MOST);
        expect(kept.get(key)).toBe(isKept ? value : undefined);
      }
    }),
  );
});

test('a value without a key is not cached', () => {
  const kept = new Kept<{ readonly bytes: number }>(MOST);
  kept.keep(undefined, { bytes: 1 });
  expect(kept.get(undefined)).toBeUndefined();
});

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}
