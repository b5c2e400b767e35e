import type { StoreChange } from '../store/log/store-change.ts';

/** What one request changed in a sandbox, as a value that another copy of it can apply. */
export interface Change {
  readonly store?: StoreChange | undefined;
}
