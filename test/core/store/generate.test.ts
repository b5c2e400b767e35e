import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { generateStore } from '../../../src/core/store/generate-store.ts';
import { STREAMS } from '../../../src/core/store/random.ts';
import { createStore, type Records } from '../../../src/core/store/store.ts';
import { storeText } from '../../../src/core/store/store-text.ts';
import { parseFixture } from '../../../src/server/fixtures.ts';
import { NODE_PLATFORM } from '../../../src/server/node-platform.ts';

const all = <R extends object>(records: Records<R>): R[] => [...records.ascending()];

test('everything in a group that is drawn from a seed has a number of its own', () => {
  for (const group of Object.values(STREAMS)) {
    const numbers = Object.values(group);
    expect(new Set(numbers).size).toBe(numbers.length);
  }
});

describe('a generated store', () => {
  test('has records that depend on the seed and their place alone', async () => {
    const few = await generateStore({ animals: 20, orders: 0, seed: 7 }, NODE_PLATFORM);
    const many = await generateStore({ animals: 200, orders: 0, seed: 7 }, NODE_PLATFORM);
    expect(all(many.animals).slice(0, 20)).toEqual(all(few.animals));
    const other = await generateStore({ animals: 20, orders: 0, seed: 8 }, NODE_PLATFORM);
    expect(all(other.animals)).not.toEqual(all(few.animals));
  });

  test('is shared by all that generate it with the same seed and size', async () => {
    const make = (animals: number) =>
      generateStore({ animals, orders: 1, seed: 99 }, NODE_PLATFORM);
    const [first, second] = await Promise.all([make(10), make(10)]);
    expect(second).toBe(first);
    expect(await make(10)).toBe(first);
    expect(await make(11)).not.toBe(first);
  });

  test('is the same in every version', async () => {
    const { animals, orders } = await generateStore(
      { animals: 100, orders: 10, seed: 1 },
      NODE_PLATFORM,
    );
    const louie = { id: 1n, name: 'Louie', categoryId: 2n, status: 'pending' };
    expect(animals.get(1n)).toEqual(louie);
    const fourth = { id: 4n, petId: 85n, quantity: 2, complete: false, status: 'pending' };
    expect(orders.get(4n)).toEqual(fourth);
  });

  test('is valid as a fixture, with ids from 1 and a first order in each state', async () => {
    const sizes = fc.record({ animals: fc.nat(200), orders: fc.nat(200), seed: fc.integer() });
    const check = fc.asyncProperty(sizes, async (options) => {
      const text = [...storeText(await generateStore(options, NODE_PLATFORM))].join('');
      const { animals, inventory, orders } = parseFixture('', { ok: true, text });
      const counted = (size: number) => Array.from({ length: size }, (_, at) => BigInt(at + 1));
      expect(all(animals).map(({ id }) => id)).toEqual(counted(options.animals));
      expect(all(inventory).map(({ petId }) => petId)).toEqual(counted(options.animals));
      expect(all(orders).map(({ id }) => id)).toEqual(counted(options.orders));
      const first = ['pending', 'shipped', 'cancelled'].slice(0, options.orders);
      expect(all(orders).flatMap(({ status }, at) => (at < 3 ? status : []))).toEqual(first);
    });
    await fc.assert(check, { numRuns: 30 });
  });

  test('has every status, and orders with few fields, whose dates fit their states', async () => {
    const { animals, orders } = await generateStore(
      { animals: 500, orders: 2000, seed: 3 },
      NODE_PLATFORM,
    );
    const statuses = new Set(all(animals).map(({ status }) => status));
    expect(statuses).toEqual(new Set(['available', 'pending', 'sold', undefined]));
    const kinds = all(orders).map((order) => Object.keys(order).join());
    const whole = 'id,petId,quantity,shipDate,complete,status';
    expect(kinds).toEqual(expect.arrayContaining(['id,status', 'id,petId,status', whole]));
    for (const { status, shipDate = '' } of all(orders)) {
      const years = status === 'shipped' ? /^(?:202[45]|2026-0[1-6]|$)/ : /^(?:203[1-5]|$)/;
      expect(shipDate).toMatch(years);
    }
  });

  test.each([-1, 1.5, Number.NaN, 1_000_001])('of %s animals is refused', async (animals) => {
    await expect(generateStore({ animals, orders: 0, seed: 1 }, NODE_PLATFORM)).rejects.toThrow(
      `animals: expected an integer from 0 to 1000000, found ${animals}`,
    );
  });
});

const zoe = { id: 2n ** 63n - 1n, name: 'Zoë "Z"\n\u2028', categoryId: -1n };
const store = createStore({
  animals: [zoe],
  inventory: [],
  orders: [{ id: 2n, petId: zoe.id, status: 'pending' }, { id: 1n }],
});

test('a written fixture has a line for each record, and exact ids', () => {
  expect([...storeText(store)].join('')).toBe(`{
  "animals": [
    {"id":9223372036854775807,"name":"Zoë \\"Z\\"\\n\u2028","categoryId":-1}
  ],
  "inventory": [],
  "orders": [
    {"id":1},
    {"id":2,"petId":9223372036854775807,"status":"pending"}
  ]
}
`);
});
