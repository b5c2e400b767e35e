import type { CollectionName, StoredRecord } from '../../contract/records.ts';
import type { Collection } from '../collection.ts';

/** What a request changed in a collection. */
export interface CollectionChange<R extends object> {
  /** Replaces all records before the others are removed and set. `start` is what a reset restores. */
  readonly from?: 'start' | Collection<R> | undefined;
  readonly remove?: readonly bigint[] | undefined;
  readonly set?: readonly R[] | undefined;
  /** The highest id ever used, if it changed. */
  readonly highest?: bigint | undefined;
}

/** What a request changed in a store. A collection that did not change is left out. */
export type StoreChange = {
  readonly [Name in CollectionName]?: CollectionChange<StoredRecord[Name]>;
};
