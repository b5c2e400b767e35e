import fc from 'fast-check';
import { expect, test } from 'vitest';
import { chooseOptions } from '../../src/contract/assumption-table.ts';
import { representationFor } from '../../src/service/reply.ts';

test('the text of an animal is its JSON, whatever its name', () => {
  const { animal: write } = representationFor(chooseOptions());
  const name = fc.string({
    unit: fc.oneof(fc.string(), fc.constantFrom('"', '\\', '\n', '\ud800')),
  });
  fc.assert(
    fc.property(name, (it) => {
      const animal = { id: 1, name: it, categoryId: 3 };
      expect(write({ id: 1n, name: it, categoryId: 3n })).toBe(JSON.stringify(animal));
    }),
  );
});
