import type { CollectionName, StoredRecord } from '../../contract/records.ts';
import type { Collection } from '../collection.ts';

/** What changed in a collection. */
export interface CollectionChange<R extends object> {
  /**
   * Replaces every record, before the others are removed and set. `start` stands for the records that
   * the store began with.
   */
  readonly from?: 'start' | Collection<R> | undefined;
  readonly remove?: readonly bigint[] | undefined;
  readonly set?: readonly R[] | undefined;
  /** The highest id ever used, if it changed; null if there never was a record. */
  readonly highest?: bigint | null | undefined;
}

/** What changed in a store. A collection that did not change is left out. */
export type StoreChange = {
  readonly [Name in CollectionName]?: CollectionChange<StoredRecord[Name]> | undefined;
};

/** A change, and the change that undoes it. */
export interface Reversible<Change> {
  readonly change: Change;
  readonly inverse: Change;
}
