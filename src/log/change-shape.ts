import { object, optional } from '../shape/objects.ts';
import { ID, RECORD_SHAPES } from '../shape/record-shapes.ts';
import { either, list, NULL, type Shape } from '../shape/shapes.ts';
import type { RecordsChange } from '../store/sorted-records.ts';
import type { StoreChange } from '../store/store.ts';

/** A change of a store, as `writeJson` writes it. */
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
