import { startPetstoreMock } from 'petstore-mock';
import { PetstoreClient } from '../client.mjs';

let server;
let mock;

beforeAll(async () => {
  server = await startPetstoreMock();
});

afterAll(() => server.stop());

beforeEach(() => {
  mock = server.sandbox();
});

test('cancels an order', async () => {
  const client = new PetstoreClient(mock.url, mock.key);
  expect(await client.cancel(1)).toBe('cancelled');
  expect((await mock.orders.get(1)).status).toBe('cancelled');
});

test('reports that an order has shipped', async () => {
  await mock.scenario.use('shipped-orders');
  expect(await new PetstoreClient(mock.url, mock.key).cancel(1)).toBe('shipped');
});
