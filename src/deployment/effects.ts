import type { AskName } from './asks.ts';
import { hasPassedSunset } from './probes/animal-probes.ts';
import { createdEntry } from './probes/inventory-probes.ts';
import { cancelled, restocks } from './probes/order-probes.ts';
import { idIn, type Seen, withId } from './seen.ts';

/** An effect of the writes before a read. */
interface Effect {
  /** Whether the document says that there is one. */
  readonly documented?: true;
  /** Whether the reply shows all of it, or there is none to see. */
  readonly isShown: (seen: Seen) => boolean;
}

/** A read can be behind the writes. One that does not show their effect is sent again after a wait. */
export const EFFECTS: Partial<Record<AskName, Effect>> = {
  created: {
    documented: true,
    isShown: (seen) => seen.status('created') === 200 || hasPassedSunset(seen),
  },
  inventoryCreated: {
    isShown: (seen) =>
      (['create', 'createPending'] as const).every(
        (name) =>
          seen.get(name)?.record === undefined || createdEntry(seen, name)?.status === 'sold',
      ),
  },
  petAt5: { isShown: (seen) => follows(seen, 'stock5', 'petAt5', 'available') },
  ordersCancelled: {
    isShown: (seen) =>
      cancelled(seen).every(({ order }) => {
        const [before, after] = [seen.list('orders'), seen.list('ordersCancelled')].map((list) =>
          withId(list, order),
        );
        return after === undefined || after.status !== before?.status;
      }),
  },
  inventoryCancelled: {
    isShown: (seen) => restocks(seen).every(({ before, after, added }) => after === before + added),
  },
  petAt0: { isShown: (seen) => follows(seen, 'stock0', 'petAt0', 'sold') },
  inventoryKept: {
    documented: true,
    isShown: (seen) =>
      !seen.get('stock3')?.accepted ||
      withId(seen.list('inventoryKept'), idIn(seen.get('createPending')?.record), 'petId')
        ?.quantity === 3,
  },
  petsAgain: {
    documented: true,
    isShown: (seen) => {
      const list = seen.list('petsAgain') ?? [];
      const created = seen
        .all('create', 'createPending')
        .flatMap(({ record }) => idIn(record) ?? []);
      // On a full page they can be missing.
      return list.length >= 100 || created.every((id) => withId(list, id) !== undefined);
    },
  },
};

function follows(
  seen: Seen,
  written: 'stock5' | 'stock0',
  read: 'petAt5' | 'petAt0',
  status: string,
): boolean {
  const record = seen.get(read)?.record;
  if (record === undefined) return hasPassedSunset(seen);
  return !seen.get(written)?.accepted || record.status === status;
}
