import type { CheckTranscript, Effect } from './check-transcript.ts';
import { hasPassedSunset } from './probes/animal-probes.ts';
import { createdEntry } from './probes/inventory-probes.ts';
import { cancelled, restocks } from './probes/order-probes.ts';
import { withId } from './record-ids.ts';

export const CREATED: Effect = {
  documented: true,
  isShown: (check) => check.status('created') === 200 || hasPassedSunset(check),
};

export const CREATED_LISTED: Effect = {
  documented: true,
  isShown: (check) => {
    const list = check.list('petsAgain') ?? [];
    // On a full page they can be missing.
    return list.length >= 100 || check.createdIds.every((id) => withId(list, id) !== undefined);
  },
};

export const ENTRIES: Effect = {
  isShown: (check) =>
    (['create', 'createPending'] as const).every(
      (name) => check.record(name) === undefined || createdEntry(check, name)?.status === 'sold',
    ),
};

export const AVAILABLE: Effect = {
  isShown: (check) => follows(check, 'stock5', 'petAt5', 'available'),
};

export const SOLD: Effect = { isShown: (check) => follows(check, 'stock0', 'petAt0', 'sold') };

function follows(
  check: CheckTranscript,
  write: 'stock5' | 'stock0',
  read: 'petAt5' | 'petAt0',
  status: string,
): boolean {
  const record = check.record(read);
  if (record === undefined) return hasPassedSunset(check);
  return !check.accepted(write) || record.status === status;
}

export const STOCK_KEPT: Effect = {
  documented: true,
  isShown: (check) =>
    !check.accepted('stock3') ||
    withId(check.list('inventoryKept'), check.id('createPending'), 'petId')?.quantity === 3,
};

export const CANCELLED: Effect = {
  isShown: (check) =>
    cancelled(check).every(({ order }) => {
      const [before, after] = [check.list('orders'), check.list('ordersCancelled')].map((list) =>
        withId(list, order),
      );
      return after === undefined || after.status !== before?.status;
    }),
};

export const RESTOCKED: Effect = {
  isShown: (check) => restocks(check).every(({ before, after, added }) => after === before + added),
};
