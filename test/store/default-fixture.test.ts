import { join } from 'node:path';
import jsonServer from 'json-server';
import request from 'supertest';
import { describe, expect, test } from 'vitest';
import { SEEN_ANIMAL_STATUSES } from '../../src/contract/records.ts';
import { packageRoot } from '../../src/files.ts';
import { loadFixture } from '../../src/store/fixture.ts';

const store = await loadFixture('default');
const [animals, inventory] = [[...store.animals.ascending()], [...store.inventory.ascending()]];
const orders = [...store.orders.ascending()];

describe('the default fixture', () => {
  test('has at least 60 animals with unique names, with each seen status or without one', () => {
    expect(animals.length).toBeGreaterThanOrEqual(60);
    expect(new Set(animals.map(({ name }) => name)).size).toBe(animals.length);
    for (const seen of [...SEEN_ANIMAL_STATUSES, undefined]) {
      expect(animals.filter(({ status }) => status === seen).length).toBeGreaterThanOrEqual(5);
    }
  });

  test('has an inventory entry for each animal, sold if the quantity is 0', () => {
    expect(inventory.map(({ petId }) => petId)).toEqual(animals.map(({ id }) => id));
    for (const { quantity, status } of inventory) {
      expect([status, quantity >= 0]).toEqual([quantity === 0 ? 'sold' : 'available', true]);
    }
  });

  test('has at least 12 orders: 1, 4 and 5 pending, 2 shipped, 3 cancelled', () => {
    expect(orders.length).toBeGreaterThanOrEqual(12);
    const statuses = orders.slice(0, 5).map(({ status }) => status);
    expect(statuses).toEqual(['pending', 'shipped', 'cancelled', 'pending', 'pending']);
    const kinds = orders.map((order) => Object.keys(order).join());
    expect(kinds).toEqual(expect.arrayContaining(['id', 'id,petId']));
  });

  test('has pending orders that ship in 2031 or later, and one without a date', () => {
    for (const { status = 'pending', shipDate = '2031' } of orders) {
      if (status === 'pending') expect(shipDate >= '2031').toBe(true);
    }
    expect(store.orders.get(5n)?.shipDate).toBeUndefined();
  });
});

test('json-server 0.17.4 serves the default fixture unchanged', async () => {
  const app = jsonServer
    .create()
    .use(jsonServer.router(join(packageRoot, 'fixtures/default.json')));
  expect((await request(app).get('/animals')).body).toHaveLength(animals.length);
  const sold = await request(app).get('/inventory?petId=4');
  expect(sold.body).toEqual([{ petId: 4, quantity: 0, status: 'sold' }]);
  expect((await request(app).get('/orders/8')).body).toEqual({ id: 8, petId: 27 });
});
