import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Base } from '../../src/store/base.ts';
import { storeText } from '../../src/store/file/store-text.ts';
import { generateStore } from '../../src/store/fixture/generate-store.ts';
import { loadFixtureSync, writeFixture } from '../../src/store/fixture/load-fixture.ts';
import {
  createStore,
  ID_OF,
  type Store,
  type StoreBase,
  storeBaseOf,
} from '../../src/store/store.ts';

const COLLECTIONS = ['animals', 'inventory', 'orders'] as const;
const all = <R>({ size, at }: Base<R>): R[] => Array.from({ length: size }, (_, i) => at(i));
const contents = ({ animals, inventory, orders }: Store) =>
  [animals, inventory, orders].map((collection) => [...collection.ascending()]);

const textOf = (store: Store) => [...storeText(store)].join('');

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'generate-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

describe('a generated store', () => {
  test('depends only on the seed, not on the order of reads', async () => {
    const size = 9000; // more than are kept, so that some are drawn twice
    const asked = fc.record({
      collection: fc.constantFrom(...COLLECTIONS),
      position: fc.nat(size - 1),
    });
    const check = fc.asyncProperty(fc.integer(), fc.array(asked), async (seed, questions) => {
      const options = { animals: size, orders: size, seed };
      const [one, other] = [await generateStore(options), await generateStore(options)];
      const ask = ({ collection, position }: (typeof questions)[number], of: StoreBase) =>
        of[collection].at(position);
      const forwards = questions.map((question) => ask(question, one));
      const backwards = questions.toReversed().map((question) => ask(question, other));
      expect(backwards.toReversed()).toEqual(forwards);
    });
    await fc.assert(check, { numRuns: 50 });
  });

  test('is the same in every version', async () => {
    const base = await generateStore({ animals: 100, orders: 10, seed: 1 });
    expect(base.animals.at(0)).toEqual({
      id: 1n,
      name: 'Louie',
      categoryId: 2n,
      status: 'pending',
    });
    expect(base.orders.at(3)).toEqual({
      id: 4n,
      petId: 85n,
      quantity: 2,
      complete: false,
      status: 'pending',
    });
  });

  test('differs for another seed', async () => {
    const one = await generateStore({ animals: 20, orders: 20, seed: 1 });
    const other = await generateStore({ animals: 20, orders: 20, seed: 2 });
    expect(contents(createStore(one))).not.toEqual(contents(createStore(other)));
  });

  test('returns the same object for the same record', async () => {
    const { animals } = await generateStore({ animals: 1_000_000, orders: 0, seed: 1 });
    const page = Array.from({ length: 100 }, (_, i) => animals.at(i));
    page.forEach((animal, position) => {
      expect(animals.at(position)).toBe(animal);
    });
  });

  test('is valid as a fixture', async () => {
    const sizes = fc.record({ animals: fc.nat(200), orders: fc.nat(200), seed: fc.integer() });
    const path = join(folder, 'checked.json');
    const check = fc.asyncProperty(sizes, async (options) => {
      await writeFixture(createStore(await generateStore(options)), path);
      const loaded = loadFixtureSync(path);
      expect(loaded.animals.size).toBe(options.animals);
      expect(loaded.orders.size).toBe(options.orders);
    });
    await fc.assert(check, { numRuns: 30 });
  });

  test('has ids that count from 1, in every collection', async () => {
    const base = await generateStore({ animals: 50, orders: 40, seed: 7 });
    const { animals, inventory, orders } = base;
    expect(all(animals).map(ID_OF.animals)).toEqual(
      Array.from({ length: 50 }, (_, i) => BigInt(i + 1)),
    );
    expect(all(inventory).map(ID_OF.inventory)).toEqual(all(animals).map(ID_OF.animals));
    expect(all(orders).map(ID_OF.orders)).toEqual(
      Array.from({ length: 40 }, (_, i) => orders.idAt(i)),
    );
  });

  test('has every status, animals without one, and orders with few fields', async () => {
    const { animals, orders } = await generateStore({ animals: 500, orders: 500, seed: 3 });
    expect(new Set(all(animals).map(({ status }) => status))).toEqual(
      new Set(['available', 'pending', 'sold', undefined]),
    );
    expect(new Set(all(animals).map(({ categoryId }) => categoryId)).size).toBe(8);
    const kinds = new Set(all(orders).map((order) => Object.keys(order).join()));
    for (const kind of ['id', 'id,petId', 'id,petId,quantity,shipDate,complete,status']) {
      expect(kinds).toContain(kind);
    }
  });

  test('has quantity 0 if and only if the entry is sold', async () => {
    const { inventory } = await generateStore({ animals: 500, orders: 0, seed: 3 });
    for (const { quantity, status } of all(inventory)) {
      expect(status).toBe(quantity === 0 ? 'sold' : 'available');
    }
  });

  test('starts with a pending, a shipped and a cancelled order for every seed', async () => {
    const check = fc.asyncProperty(fc.integer(), async (seed) => {
      const { orders } = await generateStore({ animals: 5, orders: 3, seed });
      expect(all(orders).map(({ status }) => status)).toEqual(['pending', 'shipped', 'cancelled']);
    });
    await fc.assert(check, { numRuns: 50 });
  });

  test('ships pending orders after 2030, and shipped the others by mid 2026', async () => {
    const { orders } = await generateStore({ animals: 5, orders: 2000, seed: 4 });
    for (const { status = 'pending', shipDate } of all(orders)) {
      if (shipDate === undefined) continue;
      const [from, to] = status === 'shipped' ? ['2024', '2026-07'] : ['2031', '2036'];
      expect(shipDate >= from! && shipDate < to!).toBe(true);
    }
  });

  test('without animals has orders without a petId', async () => {
    const { animals, orders } = await generateStore({ animals: 0, orders: 50, seed: 1 });
    expect(animals.size).toBe(0);
    expect(all(orders).every(({ petId }) => petId === undefined)).toBe(true);
  });

  test('of a million animals takes little memory', async () => {
    const before = process.memoryUsage().heapUsed;
    const base = await generateStore({ animals: 1_000_000, orders: 1_000_000, seed: 1 });
    const store = createStore(base);
    expect(store.animals.get(1_000_000n)?.id).toBe(1_000_000n);
    expect(store.animals.get(1_000_001n)).toBeUndefined();
    expect(store.inventory.get(777_777n)?.petId).toBe(777_777n);
    expect([...store.animals.ascending(999_998n)]).toHaveLength(2);
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(50e6);
  });

  test.each([-1, 1.5, Number.NaN, 1_000_000_001])('of %s animals is refused', async (animals) => {
    await expect(generateStore({ animals, orders: 0, seed: 1 })).rejects.toThrow(
      `animals: expected an integer from 0 to 10000000, found ${animals}`,
    );
  });

  test('throws for a position outside its size', async () => {
    const { animals } = await generateStore({ animals: 3, orders: 0, seed: 1 });
    expect(() => animals.at(3)).toThrow(RangeError);
    expect(() => animals.at(-1)).toThrow(RangeError);
  });
});

describe('a written fixture', () => {
  test('loads with the same records', async () => {
    const base = createStore(await generateStore({ animals: 3000, orders: 1000, seed: 11 }));
    const path = join(folder, 'written.json');
    await writeFixture(base, path);
    expect(contents(loadFixtureSync(path))).toEqual(contents(base));
  });

  test('has a line for each record, and exact ids', () => {
    const id = 2n ** 63n - 1n;
    const base = storeBaseOf({
      animals: [{ id, name: 'Zoë "Z"', categoryId: -1n }],
      inventory: [],
      orders: [{ id: 2n, petId: id, status: 'pending' }, { id: 1n }],
    });
    expect(textOf(createStore(base))).toBe(`{
  "animals": [
    {"id":9223372036854775807,"name":"Zoë \\"Z\\"","categoryId":-1}
  ],
  "inventory": [],
  "orders": [
    {"id":1},
    {"id":2,"petId":9223372036854775807,"status":"pending"}
  ]
}
`);
  });

  test('that cannot be written throws the error of the file system', async () => {
    const store = createStore(await generateStore({ animals: 1, orders: 0, seed: 1 }));
    await expect(writeFixture(store, join(folder, 'no/such/folder.json'))).rejects.toThrow(
      'ENOENT',
    );
  });
});
