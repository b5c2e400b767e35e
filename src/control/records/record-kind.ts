import { INT64_MAX, INT64_MIN, parseInt64 } from '../../contract/int64.ts';
import type { CollectionName, Fields } from '../../contract/records.ts';
import type { Shape } from '../../shape/shapes.ts';
import type { Collection } from '../../store/collection.ts';
import { ID_NAME } from '../../store/merge.ts';
import { recordText } from '../../store/record-text.ts';
import type { Store } from '../../store/store.ts';
import { describe } from '../../words.ts';
import { type ControlCall, type ControlReply, refuse, refuseInput } from '../endpoint.ts';

type NotFound = 'pet_not_found' | 'inventory_entry_not_found' | 'order_not_found';

export type AnyRecord = Readonly<Record<string, unknown>>;

/** What differs between the three collections. */
export interface Kind<R extends AnyRecord> {
  readonly name: CollectionName;
  readonly fields: Fields;
  readonly shape: Shape<R>;
  /** The record in the names of operations, and its schema. */
  readonly record: string;
  /** The record in words, with its article. */
  readonly noun: string;
  readonly notFound: NotFound;
  readonly of: (store: Store) => Collection<R>;
  readonly remove: (store: Store, id: bigint) => boolean | Promise<boolean>;
}

export function recordReply(record: object, status = 200, headers = {}): ControlReply {
  return { status, headers, body: { kind: 'pieces', pieces: [recordText(record)] } };
}

export function withId(
  params: ControlCall['params'],
  handle: (id: bigint) => ControlReply | Promise<ControlReply>,
): ControlReply | Promise<ControlReply> {
  const text = params.id ?? '';
  const id = parseInt64(text);
  if (id !== undefined) return handle(id);
  const expected = `an integer from ${INT64_MIN} to ${INT64_MAX}`;
  return refuseInput([{ path: 'id in the path', expected, found: describe(text) }]);
}

export function notFound(kind: Omit<Kind<AnyRecord>, 'of' | 'shape'>, id: bigint): ControlReply {
  const { noun, name } = kind;
  return refuse(
    kind.notFound,
    404,
    `there is no ${noun.replace(/^an? /, '')} with the ${ID_NAME[name]} ${id}`,
  );
}
