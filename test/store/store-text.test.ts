import { expect, test } from 'vitest';
import { createStore, EMPTY_STORE } from '../../src/store/store.ts';
import { createStoreWriter, storeText } from '../../src/store/store-text.ts';

const rex = { id: 9_223_372_036_854_775_807n, name: 'Rex "\n\u2028"', categoryId: -1n };
const one = createStore({
  animals: [rex, { id: -3n, name: '', categoryId: 0n }],
  inventory: [],
  orders: [{ id: 1n, petId: 2n, quantity: 3, status: 'shipped' }],
});
const renamed = { ...one, animals: one.animals.with({ ...rex, name: 'Max' }) };
const emptied = { ...renamed, orders: renamed.orders.without([1n]) };

test('a writer gives the text of each store, whatever it wrote before', () => {
  const write = createStoreWriter();
  for (const store of [one, renamed, one, emptied, EMPTY_STORE, one]) {
    expect(write(store)).toBe([...storeText(store)].join(''));
  }
});
