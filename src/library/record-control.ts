import type { BodyOf, ControlClient, QueryOf, ReplyOf } from '../client/control-client.ts';
import type { Int64 } from '../contract/json.ts';
import type { CollectionName } from '../contract/records.ts';

export type Animal = ReplyOf<'GET /animals/{id}'>;
export type InventoryEntry = ReplyOf<'GET /inventory/{id}'>;
/** An order as the store keeps it, with its state, which the service does not show. */
export type Order = ReplyOf<'GET /orders/{id}'>;

/** Changes of a store. Fields that a record leaves out stay; a new record must be complete. */
export type StateChanges = BodyOf<'PATCH /state'>;

/** The records of one collection. */
export interface RecordControl<Name extends CollectionName> {
  list(query?: QueryOf<`GET /${Name}`>): Promise<ReplyOf<`GET /${Name}`>>;
  /** How many records match. */
  count(query?: QueryOf<`GET /${Name}`>): Promise<number>;
  get(id: Int64): Promise<ReplyOf<`GET /${Name}/{id}`>>;
  /** Adds a record. */
  create(record: BodyOf<`POST /${Name}`>): Promise<ReplyOf<`POST /${Name}`>>;
  /** Replaces or adds a record. */
  put(id: Int64, record: BodyOf<`PUT /${Name}/{id}`>): Promise<ReplyOf<`PUT /${Name}/{id}`>>;
  /** Changes fields of a record; null removes an optional one. */
  patch(id: Int64, changes: BodyOf<`PATCH /${Name}/{id}`>): Promise<ReplyOf<`PATCH /${Name}/{id}`>>;
  delete(id: Int64): Promise<void>;
}

/** What is written for animals holds for each collection. */
export function createRecordControl<Name extends CollectionName>(
  control: ControlClient,
  name: Name,
): RecordControl<Name>;
export function createRecordControl(
  control: ControlClient,
  name: 'animals',
): RecordControl<'animals'> {
  return {
    list: (query) => control.call(`GET /${name}`, { query }),
    count: async (query) => {
      const { headers } = await control.send(`GET /${name}`, { query: { ...query, _limit: 0 } });
      return Number(headers.get('X-Total-Count'));
    },
    get: (id) => control.call(`GET /${name}/{id}`, { path: { id } }),
    create: (body) => control.call(`POST /${name}`, { body }),
    put: (id, body) => control.call(`PUT /${name}/{id}`, { path: { id }, body }),
    patch: (id, body) => control.call(`PATCH /${name}/{id}`, { path: { id }, body }),
    delete: (id) => control.call(`DELETE /${name}/{id}`, { path: { id } }),
  };
}
