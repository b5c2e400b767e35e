import fc from 'fast-check';
import { expect, test } from 'vitest';
import { updateInventory } from '../../src/service/inventory.ts';
import { cancelOrder } from '../../src/service/orders.ts';
import { RECORD_SHAPES } from '../../src/shape/record-shapes.ts';
import { readAs } from '../../src/shape/shapes.ts';
import { createStore } from '../../src/store/store.ts';
import { callOf } from '../helpers/call.ts';
import { serviceStateWith } from '../helpers/service-state.ts';

const aQuantity = fc.oneof(
  fc.maxSafeInteger(),
  fc.constantFrom(Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER, 0, -1, 1),
);

test('whatever a call does with a quantity, a reader accepts the entry', () => {
  const property = fc.property(aQuantity, aQuantity, (stock, ordered) => {
    const store = createStore({
      animals: [{ id: 1n, name: 'Rex', categoryId: 1n }],
      inventory: [{ petId: 1n, quantity: stock, status: 'sold' }],
      orders: [{ id: 1n, petId: 1n, quantity: ordered }],
    });
    const serviceState = serviceStateWith(store, 0, {
      'cancel-restocks': 'yes',
      'inventory-status': 'follows-quantity',
      'negative-quantity': 'accept',
    });
    const key = { authorization: 'Bearer demo-key', pathId: '1' };
    const body = Buffer.from(`{"quantity":${ordered}}`);
    for (const after of [
      cancelOrder(serviceState, { ...callOf('cancelOrder'), ...key }),
      updateInventory(serviceState, {
        ...callOf('updateInventory', body),
        ...key,
        contentType: 'application/json',
      }),
    ]) {
      expect([200, 204]).toContain(after.reply.status);
      const entries = [...after.store.inventory.ascending()];
      expect(entries.map((entry) => readAs(RECORD_SHAPES.inventory, entry).ok)).toEqual([true]);
    }
  });
  fc.assert(property);
});
