import { createTest } from 'petstore-mock/vitest';
import { expect } from 'vitest';
import { PetstoreClient } from '../client.mjs';

const test = createTest({ failOn: ['unmatched', 'findings'] });

test('cancels an order', async ({ mock }) => {
  const client = new PetstoreClient(mock.url, mock.key);
  expect(await client.cancel(1)).toBe('cancelled');
  expect((await mock.orders.get(1)).status).toBe('cancelled');
  await expect(mock).toHaveReceived('cancelOrder', { orderId: 1 });
});

test('reports that an order has shipped', async ({ mock }) => {
  await mock.orders.patch(1, { status: 'shipped' });
  expect(await new PetstoreClient(mock.url, mock.key).cancel(1)).toBe('shipped');
});

test('retries after a 503', async ({ mock }) => {
  await mock.scenario.use({ rules: [{ on: 'listPets', calls: 1, reply: { status: 503 } }] });
  expect(await new PetstoreClient(mock.url, mock.key).animals()).not.toEqual([]);
  expect(await mock.requests.count({ operation: 'listPets' })).toBe(2);
});
