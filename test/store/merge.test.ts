import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Order } from '../../src/contract/records.ts';
import { mergeInTurns, mergeInto, removeAnimal } from '../../src/store/merge.ts';
import { createStore, type Store, type StoreBase, storeBaseOf } from '../../src/store/store.ts';
import { turnsBeside } from '../helpers/turns.ts';

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

test('removing animals removes their orders and no others, whatever was changed before', async () => {
  const check = fc.asyncProperty(
    fc.array(aPetId, { maxLength: 12 }),
    fc.array(fc.record({ id: fc.bigInt({ min: 1n, max: 16n }), petId: aPetId }), { maxLength: 8 }),
    fc.array(fc.constantFrom(...ANIMALS), { maxLength: 3 }),
    fc.constantFrom(...ANIMALS),
    async (petIds, replaced, removed, last) => {
      const orders = petIds.map((petId, index) => withPetId(BigInt(index + 1), petId));
      const store = createStore(
        storeBaseOf({ animals: ANIMALS.map(animal), inventory: [], orders }),
      );
      for (const { id, petId } of replaced) store.orders.set(withPetId(id, petId));
      const expected = ordersIn(store).filter(({ petId }) => !removed.includes(petId ?? 0n));
      const animals = { remove: removed, set: [] };
      expect(mergeInto(store, { animals, inventory: NOTHING, orders: NOTHING })).toEqual([]);
      expect(ordersIn(store)).toEqual(expected);
      expect(await removeAnimal(store, last)).toBe(!removed.includes(last));
      expect(ordersIn(store)).toEqual(expected.filter(({ petId }) => petId !== last));
    },
  );
  await fc.assert(check, { numRuns: 300 });
});

test('removing animals reads each order at most twice, however many animals go', async () => {
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
  await removeAnimal(store, BigInt(size - 1));
  expect(read).toBeLessThan(10);
});

describe('at a large base', () => {
  const SIZE = 300_000;
  const large = (): Store => {
    const { animals, inventory, orders } = storeBaseOf({
      animals: [1n, 2n].map(animal),
      inventory: [],
      orders: [],
    });
    return createStore({
      animals,
      inventory,
      orders: {
        ...orders,
        size: SIZE,
        at: (position) => withPetId(BigInt(position + 1), 2n),
        idAt: (position) => BigInt(position + 1),
      },
    });
  };

  test('removing an animal lets other work go first', async () => {
    const store = large();
    const { result, turns } = await turnsBeside(removeAnimal(store, 1n));
    expect(result).toBe(true);
    expect(turns).toBeGreaterThan(3);
    expect(store.orders.size).toBe(SIZE);
  });

  test('changes lose nothing that is written meanwhile', async () => {
    const store = large();
    const set = Array.from({ length: 5000 }, (_, index) => ({ id: BigInt(SIZE + index + 1) }));
    const changes = {
      animals: { remove: [1n], set: [] },
      inventory: NOTHING,
      orders: { remove: [], set },
    };
    const written: bigint[] = [];
    const merging = mergeInTurns(store, changes);
    const write = (): void => {
      // Fewer than it takes to make every attempt fail.
      written.push(BigInt(written.length + 10));
      store.animals.set(animal(BigInt(written.length + 9)));
      if (written.length < 2) setImmediate(write);
    };
    setImmediate(write);
    expect(await merging).toEqual([]);
    expect(written.length).toBeGreaterThan(0);
    for (const id of written) expect(store.animals.has(id)).toBe(true);
    expect(store.animals.has(1n)).toBe(false);
    expect(store.orders.size).toBe(SIZE + set.length);
  });

  test('changes are made at once when others come in between again and again', async () => {
    const store = large();
    let id = 10n;
    const write = (): void => {
      store.animals.set(animal(id));
      id += 1n;
      next = setImmediate(write);
    };
    let next = setImmediate(write);
    const set = Array.from({ length: 5000 }, (_, index) => ({ id: BigInt(SIZE + index + 1) }));
    const changes = { animals: NOTHING, inventory: NOTHING, orders: { remove: [], set } };
    expect(await mergeInTurns(store, changes)).toEqual([]);
    clearImmediate(next);
    expect(store.orders.size).toBe(SIZE + set.length);
    expect(store.animals.size).toBe(2 + Number(id - 10n));
  });
});
