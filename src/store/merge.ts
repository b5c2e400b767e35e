import {
  type AnyRecord,
  type CollectionName,
  type Fields,
  type Reading,
  STORED_RECORDS,
  type StoredRecord,
} from '../contract/records.ts';
import { applyRecordChanges, type BulkChange, RECORD_SHAPES } from '../shape/record-shapes.ts';
import {
  type ReportMisfit,
  readWith,
  type Shape,
  type ShapeProblem,
  type ValuePath,
} from '../shape/shapes.ts';
import { ID_NAME, type Records, type Store } from './store.ts';

interface CollectionChanges<R> {
  readonly remove: readonly bigint[] | 'all';
  readonly each: readonly BulkChange[];
  /** A record with a new id must be complete. */
  readonly set: readonly Partial<R>[];
}

export type StoreChanges = {
  readonly [Name in CollectionName]: CollectionChanges<StoredRecord[Name]>;
};

/**
 * Merges changes into a store, unless one leads to an incomplete record or to a petId that no animal
 * has. Removes the inventory entry and the orders of a removed animal.
 *
 * @param at the place of the changes in problems
 */
export function merge(
  before: Store,
  changes: StoreChanges,
  at: ValuePath = [],
): Reading<Store, ShapeProblem> {
  return readWith((report) => mergeInto(before, changes, at, report));
}

function mergeInto(
  before: Store,
  { animals, inventory, orders }: StoreChanges,
  at: ValuePath,
  report: ReportMisfit,
): Store {
  let store =
    animals.remove === 'all' ? withoutRecords(before) : withoutAnimals(before, animals.remove);

  const mergeCollection = <R extends AnyRecord>(
    name: CollectionName,
    former: Records<R>,
    shape: Shape<R>,
    { remove, each, set }: CollectionChanges<R>,
  ): Records<R> => {
    for (const { change } of each) {
      reportMissingAnimal(store.animals, change.petId, [...at, name, 'each'], report);
    }
    const records = changeEach(removeRecords(former, remove), STORED_RECORDS[name], each);
    const changed = new Map<bigint, R>();
    for (const [index, members] of set.entries()) {
      const place = [...at, name, 'set', index];
      const fields: AnyRecord = members;
      const { [ID_NAME[name]]: id } = fields;
      const known = typeof id === 'bigint' ? (changed.get(id) ?? records.get(id)) : undefined;
      const record = shape.read({ ...known, ...fields }, place, report);
      if (record !== undefined) changed.set(records.idOf(record), record);
      reportMissingAnimal(store.animals, fields.petId, [...place, 'petId'], report);
    }
    return changed.size === 0 ? records : records.withAll(changed.values());
  };

  // The others may have a petId of a new animal.
  store = {
    ...store,
    animals: mergeCollection('animals', store.animals, RECORD_SHAPES.animals, animals),
  };
  store = {
    ...store,
    inventory: mergeCollection('inventory', store.inventory, RECORD_SHAPES.inventory, inventory),
    orders: mergeCollection('orders', store.orders, RECORD_SHAPES.orders, orders),
  };
  return store;
}

function withoutRecords({ animals, inventory, orders }: Store): Store {
  return { animals: animals.cleared(), inventory: inventory.cleared(), orders: orders.cleared() };
}

export function withoutAnimals(store: Store, ids: readonly bigint[]): Store {
  const gone = new Set(ids.filter((id) => store.animals.has(id)));
  if (gone.size === 0) return store;
  const orders: bigint[] = [];
  for (const { id, petId } of store.orders.ascending()) {
    if (petId !== undefined && gone.has(petId)) orders.push(id);
  }
  return {
    animals: store.animals.without(gone),
    inventory: store.inventory.without(gone),
    orders: store.orders.without(orders),
  };
}

function removeRecords<R extends object>(
  records: Records<R>,
  ids: readonly bigint[] | 'all',
): Records<R> {
  if (ids === 'all') return records.cleared();
  return ids.length === 0 ? records : records.without(ids);
}

function changeEach<R extends AnyRecord>(
  records: Records<R>,
  fields: Fields,
  each: readonly BulkChange[],
): Records<R> {
  if (each.length === 0) return records;
  return records.map((record) => {
    let changes: BulkChange['change'] | undefined;
    for (const { where, change } of each) {
      const isChanged = matches(changes === undefined ? record : { ...record, ...changes }, where);
      if (isChanged) changes = changes === undefined ? change : { ...changes, ...change };
    }
    return changes === undefined ? record : applyRecordChanges(fields, record, changes);
  });
}

function matches(record: AnyRecord, where: BulkChange['where']): boolean {
  for (const [name, values] of where) if (!values.has(record[name] ?? null)) return false;
  return true;
}

export function reportMissingAnimal(
  animals: { has(id: bigint): boolean },
  petId: unknown,
  at: ValuePath,
  report: ReportMisfit,
): void {
  if (typeof petId !== 'bigint' || animals.has(petId)) return;
  report({ at, expected: 'the id of an animal', found: `${petId}, which no animal has` });
}
