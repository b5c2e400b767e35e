import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Order } from '../../src/contract/records.ts';
import { mergeInto, removeAnimal } from '../../src/store/merge.ts';
import { createStore, type Store, type StoreBase, storeBaseOf } from '../../src/store/store.ts';

const NOTHING = { remove: [], set: [] };

const animal = (id: bigint) => ({ id, name: `Animal ${id}`, categoryId: 1n });

function ordersIn(store: Store): Order[] {
  return [...store.orders.ascending()];
}

/** Few animals, one of them 2^32 above another, so that orders share buckets of an index. */
const ANIMALS = [1n, 2n, 3n, 1n + 2n ** 32n, 2n ** 63n - 1n, -(2n ** 63n)];
const aPetId = fc.option(fc.constantFrom(...ANIMALS), { nil: undefined });

const withPetId = (id: bigint, petId: bigint | undefined): Order =>
  petId === undefined ? { id } : { id, petId };

test('removing animals removes their orders and no others, whatever was changed before', () => {
  const check = fc.property(
    fc.array(aPetId, { maxLength: 12 }),
    fc.array(fc.record({ id: fc.bigInt({ min: 1n, max: 16n }), petId: aPetId }), { maxLength: 8 }),
    fc.array(fc.constantFrom(...ANIMALS), { maxLength: 3 }),
    fc.constantFrom(...ANIMALS),
    (petIds, replaced, removed, last) => {
      const orders = petIds.map((petId, index) => withPetId(BigInt(index + 1), petId));
      const store = createStore(
        storeBaseOf({ animals: ANIMALS.map(animal), inventory: [], orders }),
      );
      for (const { id, petId } of replaced) store.orders.set(withPetId(id, petId));
      const expected = ordersIn(store).filter(({ petId }) => !removed.includes(petId ?? 0n));
      const animals = { remove: removed, set: [] };
      expect(mergeInto(store, { animals, inventory: NOTHING, orders: NOTHING })).toEqual([]);
      expect(ordersIn(store)).toEqual(expected);
      expect(removeAnimal(store, last)).toBe(!removed.includes(last));
      expect(ordersIn(store)).toEqual(expected.filter(({ petId }) => petId !== last));
    },
  );
  fc.assert(check, { numRuns: 300 });
});

test('removing animals reads each order at most twice, however many animals go', () => {
  let read = 0;
  const size = 2000;
  const { animals, inventory, orders } = storeBaseOf({
    animals: Array.from({ length: size }, (_, index) => animal(BigInt(index))),
    inventory: [],
    orders: Array.from({ length: size }, (_, index) => withPetId(BigInt(index), BigInt(index))),
  });
  const counted: StoreBase['orders'] = {
    ...orders,
    at: (position) => {
      read += 1;
      return orders.at(position);
    },
  };
  const store = createStore({ animals, inventory, orders: counted });
  const remove = Array.from({ length: size / 2 }, (_, index) => BigInt(index));
  mergeInto(store, { animals: { remove, set: [] }, inventory: NOTHING, orders: NOTHING });
  expect(store.orders.size).toBe(size / 2);
  expect(read).toBeLessThanOrEqual(2 * size);
  read = 0;
  removeAnimal(store, BigInt(size - 1));
  expect(read).toBeLessThan(10);
});
