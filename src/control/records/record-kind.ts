import { INT64_MAX, INT64_MIN, parseInt64 } from '../../contract/int64.ts';
import type { CollectionName, Fields } from '../../contract/records.ts';
import type { Shape } from '../../shape/shapes.ts';
import { recordText } from '../../store/record-text.ts';
import type { Records } from '../../store/sorted-records.ts';
import { ID_NAME, type Store } from '../../store/store.ts';
import { describe } from '../../words.ts';
import { type ControlCall, type ControlReply, refuse, refuseInput } from '../endpoint.ts';

type NotFound = 'pet_not_found' | 'inventory_entry_not_found' | 'order_not_found';

export type AnyRecord = Readonly<Record<string, unknown>>;

/** What differs between the three collections. */
export interface Kind<R extends AnyRecord> {
  readonly name: CollectionName;
  readonly fields: Fields;
  readonly shape: Shape<R>;
  /** The name of the record's schema, also used in operation ids. */
  readonly record: string;
  /** For example "an order". */
  readonly noun: string;
  readonly notFound: NotFound;
  readonly of: (store: Store) => Records<R>;
  /** The store with these records in place of those of its kind. */
  readonly replaced: (store: Store, records: Records<R>) => Store;
  /** The store without the record of an id. */
  readonly without: (store: Store, id: bigint) => Store;
}

/** Replies with one record. */
export function recordReply(record: object, status = 200, headers = {}): ControlReply {
  return { status, headers, body: { kind: 'pieces', pieces: [recordText(record)] } };
}

/** A handler of calls that have the id of a record in their path. */
export function withId<Call extends Pick<ControlCall, 'params'>>(
  handle: (call: Call, id: bigint) => ControlReply | Promise<ControlReply>,
): (call: Call) => ControlReply | Promise<ControlReply> {
  return (call) => {
    const { id: text = '' } = call.params;
    const id = parseInt64(text);
    if (id !== undefined) return handle(call, id);
    const expected = `an integer from ${INT64_MIN} to ${INT64_MAX}`;
    return refuseInput([{ path: 'id in the path', expected, found: describe(text) }]);
  };
}

/** Refuses an id without a record. */
export function notFound(
  kind: Pick<Kind<AnyRecord>, 'name' | 'noun' | 'notFound'>,
  id: bigint,
): ControlReply {
  const { noun, name } = kind;
  const message = `there is no ${noun.replace(/^an? /, '')} with the ${ID_NAME[name]} ${id}`;
  return refuse(kind.notFound, 404, message);
}
