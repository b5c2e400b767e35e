import type {
  Animal as StoredAnimal,
  InventoryEntry as StoredEntry,
  Order as StoredOrder,
} from '../contract/records.ts';
import { type ControlClient, searchOf } from './control-client.ts';

/** A 64-bit integer: a bigint only if a double would lose digits. */
export type Int64 = number | bigint;

type FromJson<R> = {
  readonly [Name in keyof R]: bigint extends R[Name] ? Int64 | Exclude<R[Name], bigint> : R[Name];
};

export type Animal = FromJson<StoredAnimal>;
export type InventoryEntry = FromJson<StoredEntry>;
/** An order as the store keeps it, with its state, which the service does not show. */
export type Order = FromJson<StoredOrder>;

/** Fields to change; null removes an optional one. */
type Changes<R> = {
  readonly [Name in keyof R]?: R[Name] | (undefined extends R[Name] ? null : never) | undefined;
};

/** A record in which the id is optional: it is assigned, or in the path. */
type Without<R, Id extends PropertyKey> = Omit<R, Id> & {
  readonly [Name in Extract<Id, keyof R>]?: R[Name] | undefined;
};

/** A whole store, in the form of a fixture. */
export interface StoreState {
  readonly animals: readonly Animal[];
  readonly inventory: readonly InventoryEntry[];
  readonly orders: readonly Order[];
}

/** Changes of a store. Fields that a record leaves out stay; a new record must be complete. */
export interface StateChanges {
  readonly animals?: CollectionChanges<Animal, 'id'>;
  readonly inventory?: CollectionChanges<InventoryEntry, 'petId'>;
  readonly orders?: CollectionChanges<Order, 'id'>;
}

/** Records to merge by id, or three kinds of changes: `remove` is applied first, then `each`, then `set`. */
type CollectionChanges<R, Id extends keyof R> =
  | readonly RecordChanges<R, Id>[]
  | {
      /** Records to merge by id. */
      readonly set?: readonly RecordChanges<R, Id>[];
      /** Changes of every record, or of those that `where` matches. */
      readonly each?: OneOrMore<EachChange<R, Id>>;
      readonly remove?: 'all' | readonly Int64[];
    };

/** Fields to change in each record with one of the values in `where`; null matches an absent field. */
type EachChange<R, Id extends keyof R> = Changes<Omit<R, Id>> & {
  readonly where?: { readonly [Name in keyof R]?: OneOrMore<Changes<R>[Name]> };
};

export type OneOrMore<T> = T | readonly T[];

/** Some fields of a record, and its id. */
type RecordChanges<R, Id extends keyof R> = Partial<R> & Pick<R, Id>;

/** How to filter, sort and slice records: json-server's query parameters. */
export type RecordQuery<R> = {
  readonly [Name in keyof R & string as Name | `${Name}_${'ne' | 'gte' | 'lte' | 'like'}`]?:
    | string
    | Int64
    | boolean
    | undefined;
} & {
  readonly q?: string | undefined;
  readonly _sort?: string | undefined;
  readonly _order?: string | undefined;
  readonly _page?: number | undefined;
  readonly _limit?: number | undefined;
};

/** The records of one collection. `Id` is the field that identifies a record. */
export interface RecordControl<R, Id extends keyof R & string, Assigned extends keyof R = never> {
  list(query?: RecordQuery<R>): Promise<readonly R[]>;
  /** How many records match. */
  count(query?: RecordQuery<R>): Promise<number>;
  get(id: Int64): Promise<R>;
  /** Adds a record. */
  create(record: Without<R, Assigned>): Promise<R>;
  /** Replaces or adds a record. */
  put(id: Int64, record: Without<R, Id>): Promise<R>;
  /** Changes fields of a record; null removes an optional one. */
  patch(id: Int64, changes: Changes<R>): Promise<R>;
  delete(id: Int64): Promise<void>;
}

export function recordControl<R, Id extends keyof R & string, Assigned extends keyof R = never>(
  client: ControlClient,
  path: string,
): RecordControl<R, Id, Assigned> {
  const one = (id: Int64): string => `${path}/${id}`;
  return {
    list: (query = {}) => client.call('GET', path + searchOf(query)),
    count: (query = {}) => client.count(path + searchOf({ ...query, _limit: 0 })),
    get: (id) => client.call('GET', one(id)),
    create: (record) => client.call('POST', path, record),
    put: (id, record) => client.call('PUT', one(id), record),
    patch: (id, changes) => client.call('PATCH', one(id), changes),
    delete: (id) => client.call('DELETE', one(id)),
  };
}
