import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { INT64_MAX, INT64_MIN } from '../../../src/contract/int64.ts';
import { parseJson } from '../../../src/contract/json.ts';
import { COLLECTIONS } from '../../../src/contract/records.ts';
import { readAs } from '../../../src/shape/read-as.ts';
import { RecordedStore } from '../../../src/store/log/recorded-store.ts';
import type { StoreChange } from '../../../src/store/log/store-change.ts';
import { STORE_CHANGE, storeChangeText } from '../../../src/store/log/store-change-text.ts';
import {
  createStore,
  forkStore,
  restoreStore,
  type Store,
  storeBaseOf,
} from '../../../src/store/store.ts';

// Few ids, so that operations meet; more than a run of a base, and the ends of int64.
const anId = fc.oneof(
  { weight: 6, arbitrary: fc.bigInt({ min: 1n, max: 8n }) },
  { weight: 2, arbitrary: fc.bigInt({ min: 60n, max: 140n }) },
  { weight: 1, arbitrary: fc.constantFrom(INT64_MIN, 2n ** 53n + 1n, INT64_MAX) },
);
const anAnimal = fc.record({
  id: anId,
  name: fc.oneof(fc.constant('Rex'), fc.string({ maxLength: 4 })),
  categoryId: anId,
});
const anOrder = fc.record(
  { id: anId, petId: anId, status: fc.constantFrom('pending', 'shipped') },
  { requiredKeys: ['id'] },
);

type Step = (store: Store) => void;

const other = createStore(
  storeBaseOf({
    animals: [{ id: 7n, name: 'Max', categoryId: INT64_MAX }],
    inventory: [{ petId: 7n, quantity: 1, status: 'available' }],
    orders: [],
  }),
);
const start = createStore(
  storeBaseOf({
    animals: Array.from({ length: 70 }, (_, i) => ({
      id: BigInt(i + 1),
      name: `Animal ${i}`,
      categoryId: 1n,
    })),
    inventory: [{ petId: 1n, quantity: 3, status: 'available' }],
    orders: [{ id: 1n, petId: 1n }, { id: INT64_MAX }],
  }),
);

const aStep: fc.Arbitrary<Step> = fc.oneof(
  anAnimal.map(
    (animal): Step =>
      ({ animals }) =>
        animals.set(animal),
  ),
  anOrder.map(
    (order): Step =>
      ({ orders }) =>
        orders.set(order),
  ),
  anId.map(
    (id): Step =>
      ({ animals }) =>
        void animals.delete(id),
  ),
  fc.array(anId).map(
    (ids): Step =>
      ({ orders }) =>
        orders.deleteAll(new Set(ids)),
  ),
  fc.constant<Step>(({ inventory }) => inventory.clear()),
  fc.constant<Step>(({ animals }) =>
    animals.changeAll((animal) => ({ ...animal, status: 'sold' }), {}),
  ),
  fc.constantFrom(start, other).map(
    (from): Step =>
      (store) =>
        restoreStore(store, from),
  ),
  // As a merge in turns does it: on a fork, which replaces the store.
  anAnimal.map(
    (animal): Step =>
      (store) => {
        const draft = forkStore(store);
        draft.animals.set(animal);
        draft.orders.delete(animal.id);
        restoreStore(store, draft);
      },
  ),
);

const histories = fc.array(fc.array(aStep, { minLength: 1, maxLength: 4 }), { maxLength: 8 });

function contentOf(store: Store): unknown {
  return COLLECTIONS.map((name) => [[...store[name].ascending()], store[name].highestId]);
}

function throughText(change: StoreChange): StoreChange {
  const reading = readAs(STORE_CHANGE, parseJson(storeChangeText(change)));
  if (!reading.ok) throw new Error(JSON.stringify(reading.problems));
  return reading.value;
}

describe.each([
  ['that know what they began with', start],
  ['that do not', undefined],
])('the changes of stores %s', (_, known) => {
  test('lead an equal store to the same state, and their inverses back', () => {
    fc.assert(
      fc.property(histories, (history) => {
        const store = new RecordedStore(start, known);
        const copy = new RecordedStore(start, known);
        for (const steps of history) {
          const before = contentOf(store);
          for (const step of steps) step(store);
          const after = contentOf(store);
          const taken = store.take();
          expect(store.take()).toBeUndefined();
          if (taken === undefined) {
            expect(after).toEqual(before);
            continue;
          }
          store.apply(taken.inverse);
          expect(contentOf(store)).toEqual(before);
          store.apply(taken.change);
          copy.apply(throughText(taken.change));
          expect(contentOf(store)).toEqual(after);
          expect(contentOf(copy)).toEqual(after);
        }
      }),
      { numRuns: 30 },
    );
  });
});

test('a reset of a large store is a small change', () => {
  const store = new RecordedStore(start);
  store.animals.set({ id: 1n, name: 'Max', categoryId: 2n });
  store.take();
  restoreStore(store, start);
  const taken = store.take();
  expect(taken?.change).toEqual({
    animals: { remove: [], set: [start.animals.get(1n)] },
    inventory: undefined,
    orders: undefined,
  });
});
