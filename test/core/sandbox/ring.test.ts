import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Ring } from '../../../src/core/sandbox/journal.ts';

describe('a ring', () => {
  it('is an array that never holds more than its capacity', () => {
    const steps = fc.array(fc.constantFrom('push', 'push', 'shift'), { maxLength: 60 });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 9 }), steps, (capacity, doings) => {
        const ring = new Ring<number>(capacity);
        const model: number[] = [];
        for (const [item, step] of doings.entries()) {
          if (step === 'shift' || model.length === capacity) {
            expect(ring.shift()).toBe(model.shift());
          }
          if (step === 'push') {
            ring.push(item);
            model.push(item);
          }
          expect([...ring]).toEqual(model);
          expect(ring.size).toBe(model.length);
          for (const index of [-10, -2, -1, 0, 1, 10]) expect(ring.at(index)).toBe(model.at(index));
        }
      }),
    );
  });
});
