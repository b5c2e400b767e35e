import { COLLECTIONS, type CollectionName, STORED_RECORDS } from '../../contract/records.ts';
import { ID_NAME, type Store } from '../../store/store.ts';

/** The members of a record by name. */
type Members = Readonly<Record<string, unknown>>;

/** A record that two stores do not have in common: added, removed, or changed if both have one. */
export interface RecordChange {
  readonly collection: CollectionName;
  readonly before?: Members | undefined;
  readonly after?: Members | undefined;
}

/** What changed from one store to another, by collection: changed and removed records first. */
export function compareStores(before: Store, after: Store): RecordChange[] {
  return COLLECTIONS.flatMap((collection) => {
    const [old, now] = [membersById(before, collection), membersById(after, collection)];
    return [...new Set([...old.keys(), ...now.keys()])]
      .map((id) => ({ collection, before: old.get(id), after: now.get(id) }))
      .filter((change) => changedFields(change).length > 0);
  });
}

/** The names of the fields that differ. */
export function changedFields({ collection, before, after }: RecordChange): string[] {
  return Object.keys(STORED_RECORDS[collection]).filter((name) => before?.[name] !== after?.[name]);
}

function membersById(store: Store, collection: CollectionName): Map<unknown, Members> {
  const records: Iterable<Members> = store[collection].ascending();
  return new Map([...records].map((record) => [record[ID_NAME[collection]], record]));
}
