import type { INVENTORY } from '../../contract/assumptions/inventory-assumptions.ts';
import type { AskName } from '../asks.ts';
import { idIn, idsOf, type JsonRecord, roundedTwin, type Seen, withId } from '../seen.ts';
import { notCreated } from './animal-probes.ts';
import type { Probes } from './probe-shape.ts';

/** What settles each assumption about the inventory. */
export const INVENTORY_PROBES: Probes<keyof typeof INVENTORY> = {
  'inventory-on-create': {
    asks: ['create', 'inventoryCreated'],
    obstacle: (seen) => notCreated(seen) ?? noInventory(seen),
    options: {
      entry: (seen) => {
        const entry = createdEntry(seen, 'create');
        return entry?.quantity === 0 && entry.status === 'sold';
      },
      none: (seen) => createdEntry(seen, 'create') === undefined,
    },
    saw: (seen) => {
      const entry = createdEntry(seen, 'create');
      return `GET /inventory: quantity ${entry?.quantity} and status ${entry?.status} for a created animal`;
    },
  },
  'inventory-missing-entry': {
    asks: ['stock5', 'inventoryCreated'],
    obstacle: (seen) =>
      noInventory(seen) ??
      (createdEntry(seen, 'createPending') === undefined
        ? undefined
        : 'every animal that the check creates gets an inventory entry, and it changes no other'),
    options: {
      404: (seen) => seen.status('stock5') === 404,
      create: (seen) => seen.get('stock5')?.accepted === true,
    },
  },
  'inventory-status': {
    asks: ['stock5', 'stock0', 'stock3'],
    obstacle: noStock,
    options: {
      unchanged: (seen) => new Set(stockStatuses(seen)).size === 1,
      'follows-quantity': (seen) => String(stockStatuses(seen)) === 'available,sold,available',
    },
    saw: (seen) => `PATCH to 5, 0 and 3: statuses ${stockStatuses(seen).join(', ')}`,
  },
  'animal-follows-stock': {
    asks: ['stock5', 'petAt5', 'stock0', 'petAt0'],
    obstacle: (seen) =>
      noStock(seen) ?? (seen.status('petAt5') === 200 ? undefined : seen.whyUnknown('petAt5')),
    options: {
      no: (seen) => String(followed(seen)) === 'pending,pending',
      yes: (seen) => String(followed(seen)) === 'available,sold',
    },
    saw: (seen) => `PATCH to 5 and 0: the pending animal is ${followed(seen).join(', then ')}`,
  },
};

/** The entry of a created animal, before its stock changed. */
export function createdEntry(
  seen: Seen,
  created: 'create' | 'createPending',
): JsonRecord | undefined {
  return withId(seen.list('inventoryCreated'), idIn(seen.get(created)?.record), 'petId');
}

function noInventory(seen: Seen): string | undefined {
  const entries = seen.list('inventoryCreated');
  if (entries === undefined) return seen.whyUnknown('inventoryCreated');
  if (idsOf(entries, 'petId').length < entries.length) return 'GET /inventory lists no petIds';
  const ids = seen.all('create', 'createPending').map(({ record }) => idIn(record));
  if (ids.some((id) => roundedTwin(seen, 'inventoryCreated', id) !== undefined)) {
    return 'ids are rounded';
  }
  const kept = seen.list('inventoryKept');
  const stocked = idIn(seen.get('createPending')?.record);
  return seen.get('stock3')?.accepted && kept !== undefined && !withId(kept, stocked, 'petId')
    ? 'GET /inventory leaves out entries'
    : undefined;
}

function noStock(seen: Seen): string | undefined {
  const unread = (['stock5', 'stock0', 'stock3'] as const).find(
    (name) => typeof seen.get(name)?.record?.status !== 'string',
  );
  return unread && `the stock of a created animal cannot be set: ${seen.whyUnknown(unread)}`;
}

function stockStatuses(seen: Seen): unknown[] {
  return statusesIn(seen, 'stock5', 'stock0', 'stock3');
}

function followed(seen: Seen): unknown[] {
  return statusesIn(seen, 'petAt5', 'petAt0');
}

function statusesIn(seen: Seen, ...names: readonly AskName[]): unknown[] {
  return seen.all(...names).map(({ record }) => record?.status);
}
