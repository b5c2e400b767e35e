import { expect, test } from '@playwright/test';
import { createMock } from 'petstore-mock/fetch';

/** A stand-in for your application. */
const APP = `<!doctype html>
  <button>Cancel order 1</button> <p role="status"></p>
  <script type="module">
    document.querySelector('button').onclick = async () => {
      const init = { method: 'DELETE', headers: { Authorization: 'Bearer demo-key' } };
      const { status } = await fetch('https://api.example.com/v1/store/orders/1', init);
      document.querySelector('p').textContent = status === 409 ? 'Too late' : 'Cancelled';
    };
  </script>`;

test('shows that an order has shipped', async ({ page }) => {
  const mock = createMock({ scenarios: ['shipped-orders'] });
  await page.route('**/v1/**', async (route) => {
    const request = route.request();
    const init = {
      method: request.method(),
      headers: await request.allHeaders(),
      body: request.postData(),
    };
    const reply = await mock.fetch(request.url(), init).catch(() => undefined);
    if (reply === undefined) return route.abort();
    const headers = Object.fromEntries(reply.headers);
    const body = Buffer.from(await reply.arrayBuffer());
    return route.fulfill({ status: reply.status, headers, body });
  });
  await page.route('https://shop.example/', (route) =>
    route.fulfill({ contentType: 'text/html', body: APP }),
  );
  await page.goto('https://shop.example/');
  await page.getByRole('button').click();
  await expect(page.getByRole('status')).toHaveText('Too late');
  expect(await mock.requests.count({ status: 409 })).toBe(1);
});
