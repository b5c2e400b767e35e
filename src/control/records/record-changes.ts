import { INT64_MAX } from '../../contract/int64.ts';
import type { EditResult } from '../../sandbox/sandbox.ts';
import type { State } from '../../sandbox/state.ts';
import { readAs, tellInto } from '../../shape/read-as.ts';
import { changedRecord } from '../../shape/record-shapes.ts';
import type { ShapeProblem } from '../../shape/shapes.ts';
import { tellMissingAnimal } from '../../store/merge.ts';
import { ID_NAME, type Store } from '../../store/store.ts';
import { type ControlReply, refuse, refuseInput } from '../endpoint.ts';
import { type AnyRecord, type Kind, notFound, recordReply } from './record-kind.ts';

/** A reply, and the store after it; undefined if that stays the same. */
interface RecordChange {
  readonly reply: ControlReply;
  readonly store: Store | undefined;
}

/** A state after a change of its records. */
export function edited(
  state: State,
  { reply, store = state.store }: RecordChange,
): EditResult<ControlReply> {
  return { state: store === state.store ? state : { ...state, store }, result: reply };
}

function refused(reply: ControlReply): RecordChange {
  return { reply, store: undefined };
}

/** Creates a record. Without an id, it gets the next one. */
export function create<R extends AnyRecord>(
  kind: Kind<R>,
  store: Store,
  mount: string,
  body: AnyRecord,
): RecordChange {
  const records = kind.of(store);
  const member = ID_NAME[kind.name];
  const next = (records.highestId ?? 0n) + 1n;
  const { [member]: id = next } = body;
  if (id === next && next > INT64_MAX) {
    const message = `no id is left above the highest one ever used, ${next - 1n}`;
    return refused(refuse('ids_exhausted', 507, message));
  }
  if (typeof id === 'bigint' && records.has(id)) {
    const message = `${kind.noun} with the ${member} ${id} exists`;
    return refused(refuse('already_exists', 409, message));
  }
  const location = { Location: `${mount}/${kind.name}/${id}` };
  return write(kind, store, { [member]: id, ...body }, 201, location);
}

/** Replaces or creates the record with an id. */
export function put<R extends AnyRecord>(
  kind: Kind<R>,
  store: Store,
  id: bigint,
  body: AnyRecord,
): RecordChange {
  const moved = otherId(kind, id, body);
  if (moved !== undefined) return refused(moved);
  const status = kind.of(store).has(id) ? 200 : 201;
  return write(kind, store, { ...body, [ID_NAME[kind.name]]: id }, status);
}

/** Updates a record with a JSON merge patch (RFC 7396). */
export function patch<R extends AnyRecord>(
  kind: Kind<R>,
  store: Store,
  id: bigint,
  body: AnyRecord,
): RecordChange {
  const before = kind.of(store).get(id);
  if (before === undefined) return refused(notFound(kind, id));
  const moved = otherId(kind, id, body);
  if (moved !== undefined) return refused(moved);
  return write(kind, store, changedRecord(kind.fields, before, body));
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

/** Sets a complete record. The animal that it refers to must exist. */
function write<R extends AnyRecord>(
  { shape, of, replaced }: Kind<R>,
  store: Store,
  value: AnyRecord,
  status = 200,
  headers: Readonly<Record<string, string>> = {},
): RecordChange {
  const reading = readAs(shape, value);
  if (!reading.ok) return refused(refuseInput(reading.problems));
  const problems: ShapeProblem[] = [];
  tellMissingAnimal(store.animals, reading.value.petId, ['petId'], tellInto(problems));
  if (problems.length > 0) return refused(refuseInput(problems));
  const record = reading.value;
  const after = replaced(store, of(store).with(record));
  return { reply: recordReply(record, status, headers), store: after };
}
