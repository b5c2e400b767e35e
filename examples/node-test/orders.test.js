import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startPetstoreMock } from 'petstore-mock';
import { PetstoreClient } from '../client.mjs';

const server = await startPetstoreMock();
after(() => server.stop());

test('cancels an order', async () => {
  const mock = server.sandbox();
  const client = new PetstoreClient(mock.url, mock.key);
  assert.equal(await client.cancel(1), 'cancelled');
  assert.equal((await mock.orders.get(1)).status, 'cancelled');
});

test('reports that an order has shipped', async () => {
  const mock = server.sandbox();
  await mock.scenario.use('shipped-orders');
  assert.equal(await new PetstoreClient(mock.url, mock.key).cancel(1), 'shipped');
});
