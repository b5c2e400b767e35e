import { INT64_MAX } from '../../contract/int64.ts';
import type { Problem, Reading } from '../../contract/records.ts';
import { changedRecord } from '../../shape/record-shapes.ts';
import { readAs, type ShapeProblem, tellInto } from '../../shape/shapes.ts';
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
    return refuse(
      'ids_exhausted',
      507,
      `no id is left above the highest one ever used, ${next - 1n}`,
    );
  }
  const reading = readWhole(kind, store, { [member]: id, ...body });
  if (!reading.ok) return refuseInput(reading.problems);
  if (typeof id === 'bigint' && collection.has(id)) {
    return refuse('already_exists', 409, `${kind.noun} with the ${member} ${id} exists`);
  }
  collection.set(reading.value);
  return recordReply(reading.value, 201, { Location: `${mount}/${kind.name}/${id}` });
}

/** Replaces or creates the record with an id. */
export function put<R extends AnyRecord>(
  kind: Kind<R>,
  store: Store,
  id: bigint,
  body: AnyRecord,
): ControlReply {
  const moved = otherId(ID_NAME[kind.name], id, body);
  if (moved !== undefined) return refuseInput([moved]);
  const reading = readWhole(kind, store, { ...body, [ID_NAME[kind.name]]: id });
  if (!reading.ok) return refuseInput(reading.problems);
  const collection = kind.of(store);
  const status = collection.has(id) ? 200 : 201;
  collection.set(reading.value);
  return recordReply(reading.value, status);
}

/** Updates a record with a JSON merge patch (RFC 7396). */
export function patch<R extends AnyRecord>(
  kind: Kind<R>,
  store: Store,
  id: bigint,
  body: AnyRecord,
): ControlReply {
  const collection = kind.of(store);
  const before = collection.get(id);
  if (before === undefined) return notFound(kind, id);
  const moved = otherId(ID_NAME[kind.name], id, body);
  if (moved !== undefined) return refuseInput([moved]);
  const reading = readWhole(kind, store, changedRecord(kind.fields, before, body));
  if (!reading.ok) return refuseInput(reading.problems);
  collection.set(reading.value);
  return recordReply(reading.value);
}

/** The problem of a body whose id differs from the id in the path. */
function otherId(member: string, id: bigint, body: AnyRecord): Problem | undefined {
  const { [member]: given = id } = body;
  if (given === id) return undefined;
  return { path: `$.${member}`, expected: `${id}, as in the path`, found: String(given) };
}

/** Reads a complete record. The animal that it refers to must exist. */
function readWhole<R extends AnyRecord>(
  { shape }: Kind<R>,
  store: Store,
  value: AnyRecord,
): Reading<R> {
  const reading = readAs(shape, value);
  if (!reading.ok) return reading;
  const problems: ShapeProblem[] = [];
  tellMissingAnimal(store, reading.value.petId, ['petId'], tellInto(problems));
  return problems.length > 0 ? { ok: false, problems } : reading;
}
