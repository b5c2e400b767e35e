import fc from 'fast-check';
import { expect, test } from 'vitest';
import { chooseOptions } from '../../src/contract/assumption-table.ts';
import { representationFor } from '../../src/service/reply.ts';

const name = fc.string({ unit: fc.oneof(fc.string(), fc.constantFrom('"', '\\', '\n', '\ud800')) });

test('the text of an animal is its JSON, whichever animals with similar ids were shown before', () => {
  const { animal: write } = representationFor(chooseOptions());
  // Few ids, some of which agree in their last ten bits.
  const id = fc.constantFrom(1, 2, 1025, 2049);
  fc.assert(
    fc.property(fc.array(fc.record({ id, name }), { maxLength: 8 }), (animals) => {
      const records = animals.map((it) => ({ id: BigInt(it.id), name: it.name, categoryId: 3n }));
      for (const [index, record] of [...records.entries(), ...records.entries()]) {
        expect(write(record)).toBe(JSON.stringify({ ...animals[index], categoryId: 3 }));
      }
    }),
  );
});
