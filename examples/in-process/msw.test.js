import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { http } from 'msw';
import { setupServer } from 'msw/node';
import { createMock } from 'petstore-mock/fetch';
import { PetstoreClient } from '../client.mjs';

const mock = createMock();
const server = setupServer(http.all('*/v1/*', ({ request }) => mock.fetch(request)));
server.listen();
after(() => server.close());

test('reports that an order has shipped', async () => {
  await mock.scenario.use('shipped-orders');
  const client = new PetstoreClient('https://api.example.com/v1', mock.key);
  assert.equal(await client.cancel(1), 'shipped');
  assert.equal(await mock.requests.count({ operation: 'cancelOrder' }), 1);
});
