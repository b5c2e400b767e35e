import { createTest, expect } from 'petstore-mock/playwright';
import { PetstoreClient } from '../client.mjs';

const test = createTest({ failOn: ['unmatched', 'findings'] });

test('cancels an order', async ({ mock }) => {
  expect(await new PetstoreClient(mock.url, mock.key).cancel(1)).toBe('cancelled');
  expect((await mock.orders.get(1)).status).toBe('cancelled');
  await expect(mock).toHaveReceived('cancelOrder', { orderId: 1 });
});

test('reports that an order has shipped', async ({ mock }) => {
  await mock.scenario.use('shipped-orders');
  expect(await new PetstoreClient(mock.url, mock.key).cancel(1)).toBe('shipped');
});
