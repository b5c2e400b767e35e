import type {
  Animal as StoredAnimal,
  InventoryEntry as StoredEntry,
  Order as StoredOrder,
} from '../contract/records.ts';

/** An integer of 64 bits, as JSON is read here: a bigint only where a double would lose a digit. */
export type Int64 = number | bigint;

type FromJson<R> = {
  readonly [Name in keyof R]: bigint extends R[Name] ? Int64 | Exclude<R[Name], bigint> : R[Name];
};

export type Animal = FromJson<StoredAnimal>;
export type InventoryEntry = FromJson<StoredEntry>;
/** An order as the store keeps it: with its state, which the service shows nobody. */
export type Order = FromJson<StoredOrder>;

/** Members that change; null takes an optional one away. */
export type Changes<R> = {
  readonly [Name in keyof R]?: R[Name] | (undefined extends R[Name] ? null : never) | undefined;
};

/** A record without the id that it gets, or that it is addressed by. */
export type Without<R, Id extends PropertyKey> = Omit<R, Id> & {
  readonly [Name in Extract<Id, keyof R>]?: R[Name] | undefined;
};

/** A whole store, in the form of a fixture. */
export interface StoreState {
  readonly animals: readonly Animal[];
  readonly inventory: readonly InventoryEntry[];
  readonly orders: readonly Order[];
}

/** Records to be merged by their ids, or what to take out before that. */
export type CollectionChanges<R> =
  | readonly R[]
  | { readonly set?: readonly R[]; readonly remove?: 'all' | readonly Int64[] };

/** Changes of a store: what a record leaves out stays, and a new one must be whole. */
export interface StateChanges {
  readonly animals?: CollectionChanges<RecordChanges<Animal, 'id'>>;
  readonly inventory?: CollectionChanges<RecordChanges<InventoryEntry, 'petId'>>;
  readonly orders?: CollectionChanges<RecordChanges<Order, 'id'>>;
}

/** Some members of a record, and its id. */
export type RecordChanges<R, Id extends keyof R> = Partial<R> & Pick<R, Id>;
