import { test } from 'petstore-mock/vitest';
import { expect } from 'vitest';

test('an order that has shipped cannot be cancelled', async ({ mock }) => {
  await mock.orders.patch(1, { status: 'shipped' });
  const headers = { Authorization: `Bearer ${mock.key}` };
  const reply = await fetch(`${mock.url}/store/orders/1`, { method: 'DELETE', headers });
  expect(reply.status).toBe(409);
  await expect(mock).toHaveReceived('cancelOrder', { orderId: 1 });
});
