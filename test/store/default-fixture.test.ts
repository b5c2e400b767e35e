import { join } from 'node:path';
import jsonServer from 'json-server';
import request from 'supertest';
import { beforeAll, describe, expect, test } from 'vitest';
import { SEEN_ANIMAL_STATUSES } from '../../src/contract/records.ts';
import { packageRoot } from '../../src/package.ts';
import { loadFixtureSync } from '../../src/store/fixture/load-fixture.ts';
import type { Records } from '../../src/store/sorted-records.ts';
import type { Store } from '../../src/store/store.ts';

let store: Store;

beforeAll(() => {
  store = loadFixtureSync('default');
});

const all = <R extends object>(records: Records<R>): R[] => [...records.ascending()];

describe('the default fixture', () => {
  test('has at least 60 animals with unique names', () => {
    const names = all(store.animals).map(({ name }) => name);
    expect(names.length).toBeGreaterThanOrEqual(60);
    expect(new Set(names).size).toBe(names.length);
  });

  test('has animals with each seen status, and without one', () => {
    const statuses = all(store.animals).map(({ status }) => status);
    for (const status of [...SEEN_ANIMAL_STATUSES, undefined]) {
      expect(statuses.filter((it) => it === status).length).toBeGreaterThanOrEqual(5);
    }
  });

  test('has an inventory entry for each animal, sold if the quantity is 0', () => {
    expect(all(store.inventory).map(({ petId }) => petId)).toEqual(
      all(store.animals).map(({ id }) => id),
    );
    for (const { quantity, status } of all(store.inventory)) {
      expect(quantity).toBeGreaterThanOrEqual(0);
      expect(status).toBe(quantity === 0 ? 'sold' : 'available');
    }
  });

  test('has at least 12 orders: 1, 4 and 5 pending, 2 shipped, 3 cancelled', () => {
    expect(store.orders.size).toBeGreaterThanOrEqual(12);
    const statuses = [1n, 2n, 3n, 4n, 5n].map((id) => store.orders.get(id)?.status);
    expect(statuses).toEqual(['pending', 'shipped', 'cancelled', 'pending', 'pending']);
  });

  test('has pending orders that ship in 2031 or later, and one without a date', () => {
    const pending = all(store.orders).filter(({ status = 'pending' }) => status === 'pending');
    for (const { shipDate } of pending) {
      if (shipDate !== undefined) expect(Date.parse(shipDate)).toBeGreaterThan(Date.UTC(2031));
    }
    expect(store.orders.get(5n)?.shipDate).toBeUndefined();
  });

  test('has orders with few fields, and one with only an id', () => {
    const fields = all(store.orders).map((order) => Object.keys(order).join());
    expect(fields).toContain('id');
    expect(fields).toContain('id,petId');
  });
});

describe('json-server 0.17.4', () => {
  const app = jsonServer
    .create()
    .use(jsonServer.router(join(packageRoot, 'fixtures/default.json')));

  test('serves the file unchanged', async () => {
    const animals = await request(app).get('/animals').expect(200);
    expect(animals.body).toHaveLength(store.animals.size);
    const inventory = await request(app).get('/inventory?petId=4').expect(200);
    expect(inventory.body).toEqual([{ petId: 4, quantity: 0, status: 'sold' }]);
    const order = await request(app).get('/orders/8').expect(200);
    expect(order.body).toEqual({ id: 8, petId: 27 });
  });
});
