const { setupMock } = require('petstore-mock/jest');
const { PetstoreClient } = require('./client.js');

const mock = setupMock({ failOn: ['unmatched', 'findings'] });

test('cancels an order', async () => {
  const client = new PetstoreClient(mock.url, mock.key);
  expect(await client.cancel(1)).toBe('cancelled');
  expect((await mock.orders.get(1)).status).toBe('cancelled');
  await expect(mock).toHaveReceived('cancelOrder', { orderId: 1 });
});

test('reports that an order has shipped', async () => {
  await mock.scenario.use('shipped-orders');
  expect(await new PetstoreClient(mock.url, mock.key).cancel(1)).toBe('shipped');
});
