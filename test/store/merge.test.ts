import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Order } from '../../src/contract/records.ts';
import type { BulkChange } from '../../src/shape/record-shapes.ts';
import { merge, type StoreChanges, withoutAnimals } from '../../src/store/merge.ts';
import { type Store, storeOf } from '../../src/store/store.ts';

const NOTHING = { remove: [], each: [], set: [] };
const UNCHANGED: StoreChanges = { animals: NOTHING, inventory: NOTHING, orders: NOTHING };

const animal = (id: bigint) => ({ id, name: `Animal ${id}`, categoryId: 1n });
const withPetId = (id: bigint, petId: bigint | undefined): Order =>
  petId === undefined ? { id } : { id, petId };

function merged(store: Store, changes: Partial<StoreChanges>): Store {
  const result = merge(store, { ...UNCHANGED, ...changes });
  if (!result.ok) throw new Error(JSON.stringify(result.problems));
  return result.value;
}

const ANIMALS = [1n, 2n, 3n, 2n ** 63n - 1n, -(2n ** 63n)];
const aPetId = fc.option(fc.constantFrom(...ANIMALS), { nil: undefined });

test('removing animals removes their inventory entries and orders, and no others', () => {
  const property = fc.property(
    fc.array(aPetId, { maxLength: 12 }),
    fc.subarray(ANIMALS),
    (petIds, removed) => {
      const before = storeOf({
        animals: ANIMALS.map(animal),
        inventory: ANIMALS.map((petId) => ({ petId, quantity: 1, status: 'available' })),
        orders: petIds.map((petId, index) => withPetId(BigInt(index), petId)),
      });
      const isLeft = ({ petId }: Order): boolean => petId === undefined || !removed.includes(petId);
      for (const after of [
        merged(before, { animals: { ...NOTHING, remove: removed } }),
        withoutAnimals(before, removed),
      ]) {
        const { animals, inventory, orders } = after;
        expect([...orders.ascending()]).toEqual([...before.orders.ascending()].filter(isLeft));
        expect(inventory.size).toBe(ANIMALS.length - removed.length);
        expect(removed.some((id) => animals.has(id) || inventory.has(id))).toBe(false);
      }
    },
  );
  fc.assert(property);
});

describe('each', () => {
  const STORE = storeOf({
    animals: [1n, 2n, 3n, 4n, 5n].map(animal),
    inventory: [],
    orders: [1n, 2n, 3n, 4n, 5n].map((id) => ({
      ...withPetId(id, id),
      status: id % 2n === 1n ? 'pending' : 'shipped',
    })),
  });
  const change = (
    change: BulkChange['change'],
    where: Readonly<Record<string, unknown[]>> = {},
  ): BulkChange => ({
    change,
    where: new Map(Object.entries(where).map(([name, values]) => [name, new Set(values)])),
  });

  test('sees what an earlier one changed, and null as an absent member', () => {
    const each = [
      change({ status: 'cancelled', petId: null }, { status: ['pending'], id: [1n, 2n, 3n] }),
      change({ quantity: 1 }, { petId: [null, 2n] }),
      change({ status: null }, { quantity: [1] }),
    ];
    const { orders } = merged(STORE, { orders: { ...NOTHING, each } });
    expect([...orders.ascending()]).toEqual([
      { id: 1n, quantity: 1 },
      { id: 2n, petId: 2n, quantity: 1 },
      { id: 3n, quantity: 1 },
      { id: 4n, petId: 4n, status: 'shipped' },
      { id: 5n, petId: 5n, status: 'pending' },
    ]);
  });
});
