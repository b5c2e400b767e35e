import { INT64_MAX, INT64_MIN, parseInt64 } from '../../contract/int64.ts';
import type { Json } from '../../contract/json.ts';
import { type AnyRecord, type CollectionName, STORED_RECORDS } from '../../contract/records.ts';
import type { EditResult } from '../../sandbox/sandbox.ts';
import type { State } from '../../sandbox/state.ts';
import { readAs, reportInto } from '../../shape/read-as.ts';
import { applyRecordChanges, RECORD_SHAPES } from '../../shape/record-shapes.ts';
import type { ShapeProblem } from '../../shape/shapes.ts';
import { reportMissingAnimal, withoutAnimals } from '../../store/merge.ts';
import { ID_NAME } from '../../store/store.ts';
import { recordText } from '../../store/store-text.ts';
import { describe } from '../../words.ts';
import { type ControlCall, type ControlReply, DONE, refuse, refuseInput } from '../endpoint.ts';

/** What differs between the three collections. */
export interface Kind<Name extends CollectionName> {
  readonly name: Name;
  /** The name of the record's schema, also used in operation ids. */
  readonly record: string;
  /** For example "an order". */
  readonly noun: string;
  readonly notFound: 'pet_not_found' | 'inventory_entry_not_found' | 'order_not_found';
  /** A record of the default fixture, another record, and a change. */
  readonly example: { readonly id: number; readonly record: Json & object; readonly change: Json };
}

/** A state after a change of a record, and the reply. */
type RecordEdit = EditResult<ControlReply>;

/** Creates a record. Without an id, it gets the next one. */
export function create<Name extends CollectionName>(
  kind: Kind<Name>,
  state: State,
  mount: string,
  body: AnyRecord,
): RecordEdit {
  const records = state.store[kind.name];
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
export function put<Name extends CollectionName>(
  kind: Kind<Name>,
  state: State,
  id: bigint,
  body: AnyRecord,
): RecordEdit {
  const moved = otherId(kind, id, body);
  if (moved !== undefined) return { state, result: moved };
  const status = state.store[kind.name].has(id) ? 200 : 201;
  return write(kind, state, { ...body, [ID_NAME[kind.name]]: id }, status);
}

/** Updates a record with a JSON merge patch (RFC 7396). */
export function patch<Name extends CollectionName>(
  kind: Kind<Name>,
  state: State,
  id: bigint,
  body: AnyRecord,
): RecordEdit {
  const before = state.store[kind.name].get(id);
  if (before === undefined) return { state, result: notFound(kind, id) };
  const moved = otherId(kind, id, body);
  if (moved !== undefined) return { state, result: moved };
  return write(kind, state, applyRecordChanges(STORED_RECORDS[kind.name], before, body));
}

export function remove<Name extends CollectionName>(
  kind: Kind<Name>,
  state: State,
  id: bigint,
): RecordEdit {
  const { store } = state;
  const { name } = kind;
  if (!store[name].has(id)) return { state, result: notFound(kind, id) };
  const after =
    name === 'animals'
      ? withoutAnimals(store, [id])
      : { ...store, [name]: store[name].without([id]) };
  return { state: { ...state, store: after }, result: DONE };
}

/** Sets a complete record. The animal that it refers to must exist. */
function write<Name extends CollectionName>(
  { name }: Kind<Name>,
  state: State,
  value: AnyRecord,
  status = 200,
  headers: Readonly<Record<string, string>> = {},
): RecordEdit {
  const { store } = state;
  const reading = readAs(RECORD_SHAPES[name], value);
  if (!reading.ok) return { state, result: refuseInput(reading.problems) };
  const problems: ShapeProblem[] = [];
  const { petId }: AnyRecord = reading.value;
  reportMissingAnimal(store.animals, petId, ['petId'], reportInto(problems));
  if (problems.length > 0) return { state, result: refuseInput(problems) };
  const after = { ...store, [name]: store[name].with(reading.value) };
  return {
    state: { ...state, store: after },
    result: recordReply(reading.value, status, headers),
  };
}

/** Refuses a body whose id differs from the id in the path. */
function otherId(
  { name }: Pick<Kind<CollectionName>, 'name'>,
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
  { noun, name, notFound: code }: Pick<Kind<CollectionName>, 'name' | 'noun' | 'notFound'>,
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
