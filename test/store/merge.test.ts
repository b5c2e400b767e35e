import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Order } from '../../src/contract/records.ts';
import type { Each } from '../../src/shape/record-shapes.ts';
import { withStatus } from '../../src/store/animals-by-status.ts';
import {
  mergeInTurns,
  mergeInto,
  prepareRemoval,
  removeAnimal,
  type StoreChanges,
} from '../../src/store/merge.ts';
import {
  createStore,
  forkStore,
  type Store,
  type StoreBase,
  storeBaseOf,
} from '../../src/store/store.ts';
import { turnsBeside } from '../helpers/turns.ts';

const NOTHING = { remove: [], each: [], set: [] };
const UNCHANGED: StoreChanges = { animals: NOTHING, inventory: NOTHING, orders: NOTHING };

const animal = (id: bigint) => ({ id, name: `Animal ${id}`, categoryId: 1n });

function ordersIn(store: Store): Order[] {
  return [...store.orders.ascending()];
}

/** Few animals, one of them 2^32 above another, so that orders share buckets of an index. */
const ANIMALS = [1n, 2n, 3n, 1n + 2n ** 32n, 2n ** 63n - 1n, -(2n ** 63n)];
const aPetId = fc.option(fc.constantFrom(...ANIMALS), { nil: undefined });

const withPetId = (id: bigint, petId: bigint | undefined): Order =>
  petId === undefined ? { id } : { id, petId };

test('removing animals removes their orders and no others, after any changes', async () => {
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
      const animals = { ...NOTHING, remove: removed };
      expect(mergeInto(store, { animals, inventory: NOTHING, orders: NOTHING })).toEqual([]);
      expect(ordersIn(store)).toEqual(expected);
      expect(await removeAnimal(store, last)).toBe(!removed.includes(last));
      expect(ordersIn(store)).toEqual(expected.filter(({ petId }) => petId !== last));
    },
  );
  await fc.assert(check, { numRuns: 300 });
});

test('removing any number of animals reads each order at most twice', async () => {
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
  mergeInto(store, { animals: { ...NOTHING, remove }, inventory: NOTHING, orders: NOTHING });
  expect(store.orders.size).toBe(size / 2);
  expect(read).toBeLessThanOrEqual(2 * size);
  read = 0;
  removeAnimal(store, BigInt(size - 1));
  expect(read).toBeLessThan(10);
});

describe('with a large base', () => {
  const SIZE = 300_000;
  const change = async <T>(work: () => T): Promise<T> => work();

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

  test('removing an animal yields to other work', async () => {
    const store = large();
    const { result, turns } = await turnsBeside(async () => {
      await prepareRemoval(store, 1n);
      return removeAnimal(store, 1n);
    });
    expect(result).toBe(true);
    expect(turns).toBeGreaterThan(100);
    expect(store.orders.size).toBe(SIZE);
  });

  test('a merge keeps changes that are made meanwhile', async () => {
    const store = large();
    const set = Array.from({ length: 5000 }, (_, index) => ({ id: BigInt(SIZE + index + 1) }));
    const changes = {
      animals: { ...NOTHING, remove: [1n] },
      inventory: NOTHING,
      orders: { ...NOTHING, set },
    };
    const written: bigint[] = [];
    const merging = turnsBeside(() => mergeInTurns(store, changes, change));
    const write = (): void => {
      // Fewer than it takes to make every attempt fail.
      written.push(BigInt(written.length + 10));
      store.animals.set(animal(BigInt(written.length + 9)));
      if (written.length < 2) setImmediate(write);
    };
    setImmediate(write);
    expect((await merging).result).toEqual([]);
    expect(written).toHaveLength(2);
    for (const id of written) expect(store.animals.has(id)).toBe(true);
    expect(store.animals.has(1n)).toBe(false);
    expect(store.orders.size).toBe(SIZE + set.length);
  });

  test('a merge that is overtaken repeatedly is made at once', async () => {
    const store = large();
    let id = 10n;
    const write = (): void => {
      store.animals.set(animal(id));
      id += 1n;
      next = setImmediate(write);
    };
    let next = setImmediate(write);
    const set = Array.from({ length: 5000 }, (_, index) => ({ id: BigInt(SIZE + index + 1) }));
    const changes = { animals: NOTHING, inventory: NOTHING, orders: { ...NOTHING, set } };
    expect((await turnsBeside(() => mergeInTurns(store, changes, change))).result).toEqual([]);
    clearImmediate(next);
    expect(store.orders.size).toBe(SIZE + set.length);
    expect(store.animals.size).toBe(2 + Number(id - 10n));
  });
});

describe('each', () => {
  const some = (size: number): StoreBase =>
    storeBaseOf({
      animals: Array.from({ length: size }, (_, index) => animal(BigInt(index + 1))),
      inventory: [],
      orders: Array.from({ length: size }, (_, index) => ({
        id: BigInt(index + 1),
        petId: BigInt(index + 1),
        status: index % 2 === 0 ? 'pending' : 'shipped',
      })),
    });
  const change = (
    change: Each['change'],
    where: Readonly<Record<string, unknown[]>> = {},
  ): Each => ({
    change,
    where: new Map(Object.entries(where).map(([name, values]) => [name, new Set(values)])),
  });
  const mergeOrders = (store: Store, orders: Partial<StoreChanges['orders']>) =>
    mergeInto(store, { ...UNCHANGED, orders: { ...NOTHING, ...orders } });

  // A small base is changed at once, a large one when its records are looked at.
  test.each([10, 5000])('changes existing records, not later ones, of %d', (size) => {
    const store = createStore(some(size));
    store.orders.set({ id: 3n, petId: 4n, status: 'shipped' });
    const fork = forkStore(store);
    const set = [{ id: 5n, quantity: 7 }];
    expect(
      mergeOrders(store, { remove: [2n], each: [change({ status: 'cancelled' })], set }),
    ).toEqual([]);
    expect(store.orders.get(2n)).toBeUndefined();
    expect(store.orders.get(3n)).toEqual({ id: 3n, petId: 4n, status: 'cancelled' });
    expect(store.orders.get(5n)).toEqual({ id: 5n, petId: 5n, quantity: 7, status: 'cancelled' });
    expect(ordersIn(store).every(({ status }) => status === 'cancelled')).toBe(true);
    store.orders.set({ id: 4n, status: 'pending' });
    expect(store.orders.get(4n)).toEqual({ id: 4n, status: 'pending' });
    expect(fork.orders.get(1n)).toEqual({ id: 1n, petId: 1n, status: 'pending' });
  });

  test.each([10, 5000])('applies after earlier changes, of %d', (size) => {
    const store = createStore(some(size));
    const each = [
      change({ status: 'cancelled', petId: null }, { status: ['pending'], id: [1n, 2n, 3n] }),
      change({ quantity: 1 }, { petId: [null, 2n] }),
    ];
    mergeOrders(store, { each });
    mergeOrders(store, { each: [change({ status: null }, { quantity: [1] })] });
    expect(ordersIn(store).slice(0, 5)).toEqual([
      { id: 1n, quantity: 1 },
      { id: 2n, petId: 2n, quantity: 1 },
      { id: 3n, quantity: 1 },
      { id: 4n, petId: 4n, status: 'shipped' },
      { id: 5n, petId: 5n, status: 'pending' },
    ]);
  });

  test.each([
    ['every order', {}],
    ['orders with a status', { status: ['shipped'] }],
    ['orders of an animal', { petId: [4n, 6n] }],
  ])('that moves %s to another animal affects the removal of animals', (_, where) => {
    for (const size of [10, 5000]) {
      for (const petId of [1n, null]) {
        const store = createStore(some(size));
        mergeOrders(store, { each: [change({ petId }, where)] });
        const left = ordersIn(store).filter((order) => order.petId !== 1n && order.petId !== 4n);
        mergeInto(store, { ...UNCHANGED, animals: { ...NOTHING, remove: [1n, 4n] } });
        expect(ordersIn(store)).toEqual(left);
      }
    }
  });

  test.each([10, 5000])('affects the filter by status, of %d animals', (size) => {
    const store = createStore(some(size));
    const each = [
      change({ status: 'new' }),
      change({ status: 'sold' }, { status: ['new'], id: [2n] }),
      change({ status: null }, { id: [3n] }),
    ];
    for (const list of [each.slice(0, 1), each]) {
      mergeInto(store, { ...UNCHANGED, animals: { ...NOTHING, each: list } });
      for (const status of ['new', 'sold']) {
        const found = store.animals.ascending(undefined, withStatus(store.animals.base, status));
        const all = [...store.animals.ascending()];
        expect([...found]).toEqual(all.filter((it) => it.status === status));
      }
    }
    expect(store.animals.get(3n)).toEqual(animal(3n));
  });

  test('is refused for an unknown animal, and after too many changes', () => {
    const store = createStore(some(5000));
    expect(mergeOrders(store, { each: [change({ petId: 0n })] })).toMatchObject([
      { path: '$.orders.each', found: '0, which no animal has' },
    ]);
    const each = Array.from({ length: 20 }, () => change({ quantity: 1 }));
    expect(mergeOrders(store, { each })).toEqual([]);
    expect(mergeOrders(store, { each })).toMatchObject([{ path: '$.orders.each', found: '40' }]);
  });
});
