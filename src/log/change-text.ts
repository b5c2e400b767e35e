import type { CollectionName } from '../contract/records.ts';
import { object, optional } from '../shape/objects.ts';
import { ID, RECORD_SHAPES } from '../shape/record-shapes.ts';
import { either, list, NULL, type Shape } from '../shape/shapes.ts';
import type { RecordsChange } from '../store/sorted-records.ts';
import type { StoreChange } from '../store/store.ts';
import { arrayText } from '../store/store-text.ts';

/** Writes a change as JSON. Ids are exact. */
export function storeChangeText({ animals, inventory, orders }: StoreChange): string {
  const members = [
    ...recordsChangeText('animals', animals),
    ...recordsChangeText('inventory', inventory),
    ...recordsChangeText('orders', orders),
  ];
  return `{${members.join()}}`;
}

function recordsChangeText<R extends object>(
  name: CollectionName,
  change: RecordsChange<R> | undefined,
): string[] {
  if (change === undefined) return [];
  const { remove, set, highestId } = change;
  const members: string[] = [];
  if (remove !== undefined) members.push(`"remove":[${remove.join()}]`);
  if (set !== undefined) members.push(`"set":${[...arrayText(set)].join('')}`);
  if (highestId !== undefined) members.push(`"highestId":${highestId}`);
  return [`"${name}":{${members.join()}}`];
}

/** A change as `storeChangeText` writes it. */
export const STORE_CHANGE: Shape<StoreChange> = object({
  animals: optional(recordsChange(RECORD_SHAPES.animals), 'Changed animals.'),
  inventory: optional(recordsChange(RECORD_SHAPES.inventory), 'Changed inventory entries.'),
  orders: optional(recordsChange(RECORD_SHAPES.orders), 'Changed orders.'),
});

function recordsChange<R extends object>(record: Shape<R>): Shape<RecordsChange<R>> {
  return object({
    remove: optional(list(ID), 'The ids of removed records.'),
    set: optional(list(record), 'New and replaced records.'),
    highestId: optional(either(ID, NULL), 'The highest id ever used.'),
  });
}
