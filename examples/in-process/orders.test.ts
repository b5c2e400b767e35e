import { createMock } from 'petstore-mock/fetch';
import { afterEach, expect, test, vi } from 'vitest';
import { PetstoreClient } from '../client.mjs';

const mock = createMock();
vi.stubGlobal('fetch', mock.fetch);
afterEach(() => mock.reset({ keep: [] }));

test('reports that an order has shipped', async () => {
  await mock.orders.patch(1, { status: 'shipped' });
  expect(await new PetstoreClient(mock.url, mock.key).cancel(1)).toBe('shipped');
});

test('retries after a 503', async () => {
  await mock.scenario.use({ rules: [{ on: 'listPets', calls: 1, reply: { status: 503 } }] });
  expect(await new PetstoreClient(mock.url, mock.key).animals()).not.toEqual([]);
  expect(await mock.requests.count({ operation: 'listPets' })).toBe(2);
});
