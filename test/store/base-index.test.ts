import fc from 'fast-check';
import { expect, test } from 'vitest';
import { indexByStatus, withStatus } from '../../src/store/animals-by-status.ts';
import { createStore, storeBaseOf } from '../../src/store/store.ts';

const STATUSES = ['available', 'pending', 'sold', 'lost', undefined] as const;

test('animals by status are those that a scan finds, whatever changes after they are indexed', async () => {
  const someStatuses = fc.array(fc.constantFrom(...STATUSES), { maxLength: 1000 });
  const aChange = fc.tuple(fc.nat(1200), fc.constantFrom(...STATUSES));
  await fc.assert(
    fc.asyncProperty(
      someStatuses,
      fc.array(aChange),
      fc.boolean(),
      async (statuses, changes, soon) => {
        const animal = (id: number, status: string | undefined) => ({
          id: BigInt(id),
          name: 'Rex',
          categoryId: 1n,
          ...(status !== undefined && { status }),
        });
        const base = storeBaseOf({
          animals: statuses.map((it, id) => animal(id, it)),
          inventory: [],
          orders: [],
        });
        const { animals } = createStore(base);
        const indexing = indexByStatus(animals.base);
        if (!soon) await indexing;
        for (const [id, status] of changes) {
          if (status === undefined) animals.delete(BigInt(id));
          else animals.set(animal(id, status));
        }
        for (const status of STATUSES) {
          if (status === undefined) continue;
          const scanned = [...animals.ascending()].filter((it) => it.status === status);
          const subset = withStatus(animals.base, status);
          expect([...animals.ascending(undefined, subset)]).toEqual(scanned);
          expect([...animals.descending(undefined, subset)]).toEqual(scanned.toReversed());
        }
        await indexing;
      },
    ),
  );
});
