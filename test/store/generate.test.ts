import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { generateStore } from '../../src/store/fixture/generate-store.ts';
import { loadFixtureSync, writeFixture } from '../../src/store/fixture/load-fixture.ts';
import type { Records } from '../../src/store/sorted-records.ts';
import { storeOf } from '../../src/store/store.ts';
import { storeText } from '../../src/store/store-text.ts';

const all = <R extends object>(records: Records<R>): R[] => [...records.ascending()];
const countingFrom1 = (size: number): bigint[] =>
  Array.from({ length: size }, (_, index) => BigInt(index + 1));

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'generate-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

describe('a generated store', () => {
  test('has records that depend on the seed and their place alone', async () => {
    const few = await generateStore({ animals: 20, orders: 0, seed: 7 });
    const many = await generateStore({ animals: 200, orders: 0, seed: 7 });
    expect(all(many.animals).slice(0, 20)).toEqual(all(few.animals));
    const other = await generateStore({ animals: 20, orders: 0, seed: 8 });
    expect(all(other.animals)).not.toEqual(all(few.animals));
  });

  test('is the same in every version', async () => {
    const base = await generateStore({ animals: 100, orders: 10, seed: 1 });
    expect(base.animals.get(1n)).toEqual({
      id: 1n,
      name: 'Louie',
      categoryId: 2n,
      status: 'pending',
    });
    expect(base.orders.get(4n)).toEqual({
      id: 4n,
      petId: 85n,
      quantity: 2,
      complete: false,
      status: 'pending',
    });
  });

  test('is valid as a fixture', async () => {
    const sizes = fc.record({ animals: fc.nat(200), orders: fc.nat(200), seed: fc.integer() });
    const path = join(folder, 'checked.json');
    const check = fc.asyncProperty(sizes, async (options) => {
      await writeFixture(await generateStore(options), path);
      const loaded = loadFixtureSync(path);
      expect(loaded.animals.size).toBe(options.animals);
      expect(loaded.orders.size).toBe(options.orders);
    });
    await fc.assert(check, { numRuns: 30 });
  });

  test('has ids that count from 1, in every collection', async () => {
    const store = await generateStore({ animals: 50, orders: 40, seed: 7 });
    expect(all(store.animals).map(({ id }) => id)).toEqual(countingFrom1(50));
    expect(all(store.inventory).map(({ petId }) => petId)).toEqual(countingFrom1(50));
    expect(all(store.orders).map(({ id }) => id)).toEqual(countingFrom1(40));
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

  test.each([-1, 1.5, Number.NaN, 1_000_001])('of %s animals is refused', async (animals) => {
    await expect(generateStore({ animals, orders: 0, seed: 1 })).rejects.toThrow(
      `animals: expected an integer from 0 to 1000000, found ${animals}`,
    );
  });
});

describe('a written fixture', () => {
  test('has a line for each record, and exact ids', () => {
    const id = 2n ** 63n - 1n;
    const store = storeOf({
      animals: [{ id, name: 'Zoë "Z"', categoryId: -1n }],
      inventory: [],
      orders: [{ id: 2n, petId: id, status: 'pending' }, { id: 1n }],
    });
    expect([...storeText(store)].join('')).toBe(`{
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
});
