import {
  type AnyRecord,
  COLLECTIONS,
  type CollectionName,
  STORED_RECORDS,
  type StoredRecord,
} from '../contract/records.ts';
import type { Reading } from '../problems.ts';
import type { ObjectMembers } from '../shape/objects.ts';
import { applyRecordChanges, type BulkChange, matchesWhere } from '../shape/record-shapes.ts';
import { type ReportMisfit, readWith, type ShapeProblem, type ValuePath } from '../shape/shapes.ts';
import { ID_NAME, type Records, type Store } from './store.ts';

interface CollectionChanges {
  readonly remove: readonly bigint[] | 'all';
  readonly each: readonly BulkChange[];
  /** Records to add or change. One with a new id must be complete. */
  readonly set: readonly AnyRecord[];
}

export type StoreChanges = {
  readonly [Name in CollectionName]: CollectionChanges;
};

/**
 * Merges changes into a store, and removes the inventory entry and the orders of a removed animal.
 * Refuses an incomplete record, and a petId that no animal has.
 *
 * @param at the place of the changes in messages
 */
export function merge(
  before: Store,
  changes: StoreChanges,
  at: ValuePath = [],
): Reading<Store, ShapeProblem> {
  return readWith((report) => {
    let store = before;
    // Animals come first, since other records may refer to new animals.
    for (const name of COLLECTIONS) {
      store = mergeCollection(store, name, changes[name], [...at, name], report);
    }
    return store;
  });
}

function mergeCollection<Name extends CollectionName>(
  before: Store,
  name: Name,
  { remove, each, set }: CollectionChanges,
  at: ValuePath,
  report: ReportMisfit,
): Store {
  const store = removeRecords(before, name, remove);
  for (const { change } of each) {
    reportMissingAnimal(store.animals, change.petId, [...at, 'each'], report);
  }
  const left: Records<StoredRecord[Name]> = store[name];
  const stored = STORED_RECORDS[name];
  const records = changeEach(left, stored.members, each);
  const changed = new Map<bigint, StoredRecord[Name]>();
  for (const [index, fields] of set.entries()) {
    const place = [...at, 'set', index];
    const { [ID_NAME[name]]: id } = fields;
    const known = typeof id === 'bigint' ? (changed.get(id) ?? records.get(id)) : undefined;
    const merged = applyRecordChanges<AnyRecord>(stored.members, known ?? {}, fields);
    const record = stored.read(merged, place, report);
    if (record !== undefined) changed.set(records.idOf(record), record);
    reportMissingAnimal(store.animals, fields.petId, [...place, 'petId'], report);
  }
  const other = [...changed.values()].filter((record) => !records.holds(record));
  return { ...store, [name]: other.length === 0 ? records : records.withAll(other) };
}

/** Removes records; with an animal, also its inventory entry and its orders. */
export function removeRecords(
  store: Store,
  name: CollectionName,
  ids: readonly bigint[] | 'all',
): Store {
  const { animals, inventory, orders } = store;
  if (name !== 'animals') {
    return { ...store, [name]: ids === 'all' ? store[name].cleared() : store[name].without(ids) };
  }
  if (ids === 'all') {
    return { animals: animals.cleared(), inventory: inventory.cleared(), orders: orders.cleared() };
  }
  const known = ids.filter((id) => animals.has(id));
  if (known.length === 0) return store;
  const gone = new Set<bigint | undefined>(known);
  const ordered = [...orders.ascending()].filter(({ petId }) => gone.has(petId));
  return {
    animals: animals.without(known),
    inventory: inventory.without(known),
    orders: orders.without(ordered.map(orders.idOf)),
  };
}

function changeEach<R extends AnyRecord>(
  records: Records<R>,
  members: ObjectMembers,
  each: readonly BulkChange[],
): Records<R> {
  if (each.length === 0) return records;
  return records.map((record) => {
    let changes: BulkChange['change'] | undefined;
    for (const { where, change } of each) {
      const isChanged = matchesWhere(
        changes === undefined ? record : { ...record, ...changes },
        where,
      );
      if (isChanged) changes = changes === undefined ? change : { ...changes, ...change };
    }
    return changes === undefined ? record : applyRecordChanges(members, record, changes);
  });
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

const RECORD_BYTES = 128;

export interface ChangeSizes {
  /** How many records differ in each collection. */
  readonly changed: { readonly [Name in CollectionName]: number };
  /** Roughly the memory of the records that only the store before has. */
  readonly bytes: number;
}

export function measureChanges(before: Store, after: Store): ChangeSizes {
  let bytes = 0;
  const measure = (record: object): void => {
    bytes += RECORD_BYTES;
    for (const value of Object.values(record)) if (typeof value === 'string') bytes += value.length;
  };
  const changed = {
    animals: before.animals.changedIds(after.animals, measure).length,
    inventory: before.inventory.changedIds(after.inventory, measure).length,
    orders: before.orders.changedIds(after.orders, measure).length,
  };
  return { changed, bytes };
}
