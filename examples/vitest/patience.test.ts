import { test } from 'petstore-mock/vitest';
import { expect } from 'vitest';
import { Screen } from '../screen.mjs';

test('shows a spinner until the list is there', async ({ mock }) => {
  const screen = new Screen(mock.url, mock.key);
  const latch = await mock.hold('listPets');
  const searched = screen.search('available');
  await latch.arrived();
  expect(screen.isLoading).toBe(true);
  await latch.release();
  await searched;
  expect(screen.isLoading).toBe(false);
});

test('keeps a cancelled order away when an older list arrives', async ({ mock }) => {
  const screen = new Screen(mock.url, mock.key);
  const latch = await mock.hold('listOrders');
  const shown = screen.showOrders();
  await latch.arrived();
  await screen.cancel(1);
  await latch.release();
  await shown;
  expect(screen.orders.map(({ id }) => id)).not.toContain(1);
});

test('shows the latest search, even if its reply comes first', async ({ mock }) => {
  const screen = new Screen(mock.url, mock.key);
  const latch = await mock.hold('listPets');
  const first = screen.search('available');
  await latch.arrived(1);
  const second = screen.search('sold');
  await latch.arrived(2);
  await latch.releaseNewestFirst();
  await Promise.all([first, second]);
  expect(new Set(screen.animals.map(({ status }) => status))).toEqual(new Set(['sold']));
});

test('takes an order for cancelled when only the reply was late', async ({ mock }) => {
  const screen = new Screen(mock.url, mock.key);
  await mock.hold('cancelOrder', { calls: 1 });
  await screen.cancel(1, 1_000);
  const [first, second] = await mock.requests.wait({ operation: 'cancelOrder' }, { atLeast: 2 });
  expect([first?.hold?.ended, second?.status]).toEqual(['left', 409]);
});
