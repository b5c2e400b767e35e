import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { connectPetstoreMock } from 'petstore-mock';
import { GenericContainer, Wait } from 'testcontainers';
import { PetstoreClient } from '../client.mjs';

// Build the image first, in a clone of petstore-mock: docker build --tag petstore-mock .
const IMAGE = process.env.PETSTORE_MOCK_IMAGE ?? 'petstore-mock';
const PORT = 4010;
const TOKEN = 'only-for-tests';

let container;
let server;

before(async () => {
  container = await new GenericContainer(IMAGE)
    .withExposedPorts(PORT)
    .withEnvironment({
      PETSTORE_MOCK_CONTROL_TOKEN: TOKEN,
      PETSTORE_MOCK_SANDBOX_REQUIRED: '1',
    })
    .withWaitStrategy(Wait.forHttp('/__mock/health', PORT))
    .start();
  const url = `http://${container.getHost()}:${container.getMappedPort(PORT)}`;
  server = await connectPetstoreMock({ url, token: TOKEN });
});
after(() => container?.stop());

test('cancels an order', async () => {
  const mock = server.sandbox();
  const client = new PetstoreClient(mock.url, mock.key);
  assert.equal(await client.cancel(1), 'cancelled');
  assert.equal(await mock.requests.count({ operation: 'cancelOrder', status: 204 }), 1);
});

test('reports that an order has shipped', async () => {
  const mock = server.sandbox();
  await mock.orders.patch(1, { status: 'shipped' });
  assert.equal(await new PetstoreClient(mock.url, mock.key).cancel(1), 'shipped');
});
