import { type ControlClient, queryOf } from './control-client.ts';
import type { Changes, Int64, Without } from './record-types.ts';

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
    list: (query = {}) => client.call('GET', path + queryOf(query)),
    count: (query = {}) => client.count(path + queryOf({ ...query, _limit: 0 })),
    get: (id) => client.call('GET', one(id)),
    create: (record) => client.call('POST', path, record),
    put: (id, record) => client.call('PUT', one(id), record),
    patch: (id, changes) => client.call('PATCH', one(id), changes),
    delete: (id) => client.call('DELETE', one(id)),
  };
}
