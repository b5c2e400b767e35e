import type { CollectionName } from '../../contract/records.ts';
import { object, optional } from '../../shape/objects.ts';
import { ID, RECORD_SHAPES } from '../../shape/record-shapes.ts';
import { choice, convert, either, list, NULL, type Shape } from '../../shape/shapes.ts';
import { atOnce, type Work } from '../../work.ts';
import { baseOf } from '../base.ts';
import { Collection } from '../collection.ts';
import { arrayText } from '../record-text.ts';
import { ID_OF } from '../store.ts';
import type { CollectionChange, StoreChange } from './store-change.ts';

/** Writes a change as JSON. Ids are exact. */
export function storeChangeText(change: StoreChange): string {
  return atOnce(writingStoreChange(change));
}

/** `storeChangeText` with each record as a step. */
export function* writingStoreChange({ animals, inventory, orders }: StoreChange): Work<string> {
  const members = [
    yield* collectionText('animals', animals),
    yield* collectionText('inventory', inventory),
    yield* collectionText('orders', orders),
  ];
  return `{${members.filter((text) => text !== '').join()}}`;
}

function* collectionText<R extends object>(
  name: CollectionName,
  change: CollectionChange<R> | undefined,
): Work<string> {
  if (change === undefined) return '';
  const { from, remove = [], set = [] } = change;
  const members: string[] = [];
  if (from === 'start') members.push('"from":"start"');
  else if (from !== undefined) members.push(`"from":${yield* textOf(from.ascending())}`);
  if (remove.length > 0) members.push(`"remove":[${remove.join()}]`);
  if (set.length > 0) members.push(`"set":${yield* textOf(set)}`);
  const kept = from instanceof Collection ? (from.highestId ?? null) : undefined;
  const { highest = kept } = change;
  if (highest !== undefined) members.push(`"highest":${highest}`);
  return `"${name}":{${members.join()}}`;
}

function* textOf(records: Iterable<object>): Work<string> {
  const pieces: string[] = [];
  for (const piece of arrayText(records)) {
    pieces.push(piece);
    yield;
  }
  return pieces.join('');
}

/** A change as `storeChangeText` writes it. */
export const STORE_CHANGE: Shape<StoreChange> = object({
  animals: optional(changeOf(RECORD_SHAPES.animals, ID_OF.animals), 'Changed animals.'),
  inventory: optional(changeOf(RECORD_SHAPES.inventory, ID_OF.inventory), 'Changed entries.'),
  orders: optional(changeOf(RECORD_SHAPES.orders, ID_OF.orders), 'Changed orders.'),
});

function changeOf<R extends object>(
  record: Shape<R>,
  idOf: (record: R) => bigint,
): Shape<CollectionChange<R>> {
  const whole = convert(list(record), (records) => new Collection(baseOf(records, idOf), idOf));
  return object({
    from: optional(either(choice(['start']), whole), 'The records to begin with.'),
    remove: optional(list(ID), 'The ids of removed records.'),
    set: optional(list(record), 'New and replaced records.'),
    highest: optional(either(ID, NULL), 'The highest id ever used.'),
  });
}
