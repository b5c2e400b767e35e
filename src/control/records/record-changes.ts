import { INT64_MAX } from '../../contract/int64.ts';
import { readAs, tellInto } from '../../shape/read-as.ts';
import { changedRecord } from '../../shape/record-shapes.ts';
import type { ShapeProblem } from '../../shape/shapes.ts';
import { ID_NAME, tellMissingAnimal } from '../../store/merge.ts';
import type { Store } from '../../store/store.ts';
import { type ControlCall, type ControlReply, refuse, refuseInput } from '../endpoint.ts';
import { type AnyRecord, type Kind, notFound, recordReply } from './record-kind.ts';

/** Creates a record. Without an id, it gets the next one. */
export function create<R extends AnyRecord>(
  kind: Kind<R>,
  { sandbox, mount }: Pick<ControlCall, 'sandbox' | 'mount'>,
  body: AnyRecord,
): ControlReply {
  const { store } = sandbox.world;
  const collection = kind.of(store);
  const member = ID_NAME[kind.name];
  const next = (collection.highestId ?? 0n) + 1n;
  const { [member]: id = next } = body;
  if (id === next && next > INT64_MAX) {
    const message = `no id is left above the highest one ever used, ${next - 1n}`;
    return refuse('ids_exhausted', 507, message);
  }
  if (typeof id === 'bigint' && collection.has(id)) {
    return refuse('already_exists', 409, `${kind.noun} with the ${member} ${id} exists`);
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
): ControlReply {
  const moved = otherId(kind, id, body);
  if (moved !== undefined) return moved;
  const status = kind.of(store).has(id) ? 200 : 201;
  return write(kind, store, { ...body, [ID_NAME[kind.name]]: id }, status);
}

/** Updates a record with a JSON merge patch (RFC 7396). */
export function patch<R extends AnyRecord>(
  kind: Kind<R>,
  store: Store,
  id: bigint,
  body: AnyRecord,
): ControlReply {
  const before = kind.of(store).get(id);
  if (before === undefined) return notFound(kind, id);
  return otherId(kind, id, body) ?? write(kind, store, changedRecord(kind.fields, before, body));
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
  { shape, of }: Kind<R>,
  store: Store,
  value: AnyRecord,
  status = 200,
  headers: Readonly<Record<string, string>> = {},
): ControlReply {
  const reading = readAs(shape, value);
  if (!reading.ok) return refuseInput(reading.problems);
  const problems: ShapeProblem[] = [];
  tellMissingAnimal(store.animals, reading.value.petId, ['petId'], tellInto(problems));
  if (problems.length > 0) return refuseInput(problems);
  of(store).set(reading.value);
  return recordReply(reading.value, status, headers);
}
