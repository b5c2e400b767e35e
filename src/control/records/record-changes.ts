import { INT64_MAX, INT64_MIN, parseInt64 } from '../../contract/int64.ts';
import type { Json } from '../../contract/json.ts';
import type { CollectionName, Fields } from '../../contract/records.ts';
import type { EditResult } from '../../sandbox/sandbox.ts';
import type { State } from '../../sandbox/state.ts';
import { readAs, tellInto } from '../../shape/read-as.ts';
import { changedRecord } from '../../shape/record-shapes.ts';
import type { Shape, ShapeProblem } from '../../shape/shapes.ts';
import { tellMissingAnimal } from '../../store/merge.ts';
import type { Records } from '../../store/sorted-records.ts';
import { ID_NAME, type Store } from '../../store/store.ts';
import { recordText } from '../../store/store-text.ts';
import { describe } from '../../words.ts';
import { type ControlCall, type ControlReply, DONE, refuse, refuseInput } from '../endpoint.ts';
import type { AnyRecord } from './query.ts';

/** What differs between the three collections. */
export interface Kind<R extends AnyRecord> {
  readonly name: CollectionName;
  readonly fields: Fields;
  readonly shape: Shape<R>;
  /** The name of the record's schema, also used in operation ids. */
  readonly record: string;
  /** For example "an order". */
  readonly noun: string;
  readonly notFound: 'pet_not_found' | 'inventory_entry_not_found' | 'order_not_found';
  readonly of: (store: Store) => Records<R>;
  /** The store with these records in place of those of its kind. */
  readonly replaced: (store: Store, records: Records<R>) => Store;
  /** The store without the record of an id. */
  readonly without: (store: Store, id: bigint) => Store;
  /** A record of the default fixture, another record, and a change. */
  readonly example: { readonly id: number; readonly record: Json & object; readonly change: Json };
}

/** A state after a change of a record, and the reply. */
type Change = EditResult<ControlReply>;

/** Creates a record. Without an id, it gets the next one. */
export function create<R extends AnyRecord>(
  kind: Kind<R>,
  state: State,
  mount: string,
  body: AnyRecord,
): Change {
  const records = kind.of(state.store);
  const member = ID_NAME[kind.name];
  const next = (records.highestId ?? 0n) + 1n;
  const { [member]: id = next } = body;
  if (id === next && next > INT64_MAX) {
    const message = `no id is left above the highest one ever used, ${next - 1n}`;
    return { state, result: refuse('ids_exhausted', 507, message) };
  }
  if (typeof id === 'bigint' && records.has(id)) {
    const message = `${kind.noun} with the ${member} ${id} exists`;
    return { state, result: refuse('already_exists', 409, message) };
  }
  const location = { Location: `${mount}/${kind.name}/${id}` };
  return write(kind, state, { [member]: id, ...body }, 201, location);
}

/** Replaces or creates the record with an id. */
export function put<R extends AnyRecord>(
  kind: Kind<R>,
  state: State,
  id: bigint,
  body: AnyRecord,
): Change {
  const moved = otherId(kind, id, body);
  if (moved !== undefined) return { state, result: moved };
  const status = kind.of(state.store).has(id) ? 200 : 201;
  return write(kind, state, { ...body, [ID_NAME[kind.name]]: id }, status);
}

/** Updates a record with a JSON merge patch (RFC 7396). */
export function patch<R extends AnyRecord>(
  kind: Kind<R>,
  state: State,
  id: bigint,
  body: AnyRecord,
): Change {
  const before = kind.of(state.store).get(id);
  if (before === undefined) return { state, result: notFound(kind, id) };
  const moved = otherId(kind, id, body);
  if (moved !== undefined) return { state, result: moved };
  return write(kind, state, changedRecord(kind.fields, before, body));
}

export function remove<R extends AnyRecord>(kind: Kind<R>, state: State, id: bigint): Change {
  const { store } = state;
  if (!kind.of(store).has(id)) return { state, result: notFound(kind, id) };
  return { state: { ...state, store: kind.without(store, id) }, result: DONE };
}

/** Sets a complete record. The animal that it refers to must exist. */
function write<R extends AnyRecord>(
  { shape, of, replaced }: Kind<R>,
  state: State,
  value: AnyRecord,
  status = 200,
  headers: Readonly<Record<string, string>> = {},
): Change {
  const { store } = state;
  const reading = readAs(shape, value);
  if (!reading.ok) return { state, result: refuseInput(reading.problems) };
  const problems: ShapeProblem[] = [];
  tellMissingAnimal(store.animals, reading.value.petId, ['petId'], tellInto(problems));
  if (problems.length > 0) return { state, result: refuseInput(problems) };
  const after = replaced(store, of(store).with(reading.value));
  return {
    state: { ...state, store: after },
    result: recordReply(reading.value, status, headers),
  };
}

/** Refuses a body whose id differs from the id in the path. */
function otherId(
  { name }: Pick<Kind<AnyRecord>, 'name'>,
  id: bigint,
  body: AnyRecord,
): ControlReply | undefined {
  const { [ID_NAME[name]]: given = id } = body;
  if (given === id) return undefined;
  const expected = `${id}, as in the path`;
  return refuseInput([{ path: `$.${ID_NAME[name]}`, expected, found: String(given) }]);
}

/** Refuses an id without a record. */
export function notFound(
  { noun, name, notFound: code }: Pick<Kind<AnyRecord>, 'name' | 'noun' | 'notFound'>,
  id: bigint,
): ControlReply {
  const message = `there is no ${noun.replace(/^an? /, '')} with the ${ID_NAME[name]} ${id}`;
  return refuse(code, 404, message);
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
