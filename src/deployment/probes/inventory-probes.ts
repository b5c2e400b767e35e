import type { INVENTORY } from '../../contract/assumptions/inventory-assumptions.ts';
import type { CheckTranscript } from '../check-transcript.ts';
import { idsOf, type JsonRecord, withId } from '../record-ids.ts';
import type { RequestName } from '../request-names.ts';
import { notCreated } from './animal-probes.ts';
import { accepted, type Probes, status } from './probe-shape.ts';

/** What settles each assumption about the inventory. */
export const INVENTORY_PROBES: Probes<keyof typeof INVENTORY> = {
  'inventory-on-create': {
    requests: ['create', 'inventoryCreated'],
    obstacle: (check) => notCreated(check) ?? noInventory(check),
    options: {
      entry: (check) => {
        const entry = createdEntry(check, 'create');
        return entry?.quantity === 0 && entry.status === 'sold';
      },
      none: (check) => createdEntry(check, 'create') === undefined,
    },
    saw: (check) => {
      const entry = createdEntry(check, 'create');
      return `GET /inventory: quantity ${entry?.quantity} and status ${entry?.status} for a created animal`;
    },
  },
  'inventory-missing-entry': {
    requests: ['stock5', 'inventoryCreated'],
    obstacle: (check) =>
      noInventory(check) ??
      (createdEntry(check, 'createPending') === undefined
        ? undefined
        : 'every animal that the check creates gets an inventory entry, and it changes no other'),
    options: { 404: status('stock5', 404), create: accepted('stock5') },
  },
  'inventory-status': {
    requests: ['stock5', 'stock0', 'stock3'],
    obstacle: noStock,
    options: {
      unchanged: (check) => new Set(stockStatuses(check)).size === 1,
      'follows-quantity': (check) => String(stockStatuses(check)) === 'available,sold,available',
    },
    saw: (check) => `PATCH to 5, 0 and 3: statuses ${stockStatuses(check).join(', ')}`,
  },
  'animal-follows-stock': {
    requests: ['stock5', 'petAt5', 'stock0', 'petAt0'],
    obstacle: (check) =>
      noStock(check) ?? (check.status('petAt5') === 200 ? undefined : check.whyUnknown('petAt5')),
    options: {
      no: (check) => String(petStatuses(check)) === 'pending,pending',
      yes: (check) => String(petStatuses(check)) === 'available,sold',
    },
    saw: (check) => `PATCH to 5 and 0: the pending animal is ${petStatuses(check).join(', then ')}`,
  },
};

/** The entry of a created animal, before its stock changed. */
export function createdEntry(
  check: CheckTranscript,
  created: 'create' | 'createPending',
): JsonRecord | undefined {
  return withId(check.list('inventoryCreated'), check.id(created), 'petId');
}

function noInventory(check: CheckTranscript): string | undefined {
  const entries = check.list('inventoryCreated');
  if (entries === undefined) return check.whyUnknown('inventoryCreated');
  if (idsOf(entries, 'petId').length < entries.length) return 'GET /inventory lists no petIds';
  if (check.createdIds.some((id) => check.roundedTwin('inventoryCreated', id) !== undefined)) {
    return 'ids are rounded';
  }
  const kept = check.list('inventoryKept');
  return check.accepted('stock3') && kept && !withId(kept, check.id('createPending'), 'petId')
    ? 'GET /inventory leaves out entries'
    : undefined;
}

const STOCK = ['stock5', 'stock0', 'stock3'] as const;

function noStock(check: CheckTranscript): string | undefined {
  const unread = STOCK.find((name) => typeof check.record(name)?.status !== 'string');
  return unread && `the stock of a created animal cannot be set: ${check.whyUnknown(unread)}`;
}

function stockStatuses(check: CheckTranscript): unknown[] {
  return statusesIn(check, ...STOCK);
}

function petStatuses(check: CheckTranscript): unknown[] {
  return statusesIn(check, 'petAt5', 'petAt0');
}

function statusesIn(check: CheckTranscript, ...names: readonly RequestName[]): unknown[] {
  return check.all(...names).map(({ record }) => record?.status);
}
