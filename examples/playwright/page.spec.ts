import { expect } from '@playwright/test';
import { test } from 'petstore-mock/playwright';

/** A stand-in for your application, which gets the URL and the key in its own way. */
const page = (url: string, key: string) => `<!doctype html>
  <button>Cancel order 1</button> <p role="status"></p>
  <script type="module">
    document.querySelector('button').onclick = async () => {
      const init = { method: 'DELETE', headers: { Authorization: 'Bearer ${key}' } };
      const { status } = await fetch('${url}/store/orders/1', init);
      document.querySelector('p').textContent = status === 409 ? 'Too late' : 'Cancelled';
    };
  </script>`;

test('shows that an order has shipped', async ({ page: tab, mock }) => {
  await mock.orders.patch(1, { status: 'shipped' });
  await tab.route('**/app', (route) =>
    route.fulfill({ contentType: 'text/html', body: page(mock.url, mock.key) }),
  );
  await tab.goto(new URL('/app', mock.url).href);
  await tab.getByRole('button').click();
  await expect(tab.getByRole('status')).toHaveText('Too late');
});
