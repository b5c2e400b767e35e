import { INT64_MAX, toInt64 } from '../../contract/int64.ts';
import {
  type Fields,
  isObject,
  type Problem,
  type Reading,
  type RecordOf,
  readRecord,
} from '../../contract/records.ts';
import { ID_NAME } from '../../store/merge.ts';
import type { Store } from '../../store/store.ts';
import { describe } from '../../words.ts';
import { unknownProblems } from '../checks.ts';
import { type ControlCall, type ControlReply, refuse, refuseInput } from '../endpoint.ts';
import { type Kind, notFound, recordReply } from './record-kind.ts';

/** Adds a record, under the next id where it has none. */
export function create<const F extends Fields>(kind: Kind<F>, call: ControlCall): ControlReply {
  const { store } = call.sandbox.world;
  const collection = kind.of(store);
  const { body } = call;
  const member = ID_NAME[kind.name];
  const assigned = member === 'id' && isObject(body) && !Object.hasOwn(body, member);
  const next = (collection.highestId ?? 0n) + 1n;
  const reading = read(kind, store, assigned ? { id: next, ...body } : body);
  if (assigned && next > INT64_MAX) {
    return refuse('ids_exhausted', 507, `no id is above the highest ever used, ${next - 1n}`);
  }
  if (!reading.ok) return refuseInput(reading.problems);
  const id = idOf(kind, reading.value);
  if (collection.has(id)) {
    return refuse('already_exists', 409, `there is ${kind.noun} with the ${member} ${id}`);
  }
  collection.set(reading.value);
  return recordReply(reading.value, 201, { Location: `${call.mount}/${kind.name}/${id}` });
}

/** Puts a record in the place of the one with its id, or adds it. */
export function put<const F extends Fields>(
  kind: Kind<F>,
  call: ControlCall,
  id: bigint,
): ControlReply {
  const { store } = call.sandbox.world;
  const { body } = call;
  const member = ID_NAME[kind.name];
  const moved = otherId(body, member, id);
  if (moved !== undefined) return refuseInput([moved]);
  const reading = read(kind, store, isObject(body) ? { ...body, [member]: id } : body);
  if (!reading.ok) return refuseInput(reading.problems);
  const collection = kind.of(store);
  const status = collection.has(id) ? 200 : 201;
  collection.set(reading.value);
  return recordReply(reading.value, status);
}

/** Changes members of a record, as RFC 7396 merges. */
export function patch<const F extends Fields>(
  kind: Kind<F>,
  call: ControlCall,
  id: bigint,
): ControlReply {
  const { store } = call.sandbox.world;
  const collection = kind.of(store);
  const before = collection.get(id);
  if (before === undefined) return notFound(kind, id);
  const { body } = call;
  if (!isObject(body)) {
    return refuseInput([{ path: '$', expected: 'an object', found: describe(body) }]);
  }
  const moved = otherId(body, ID_NAME[kind.name], id);
  if (moved !== undefined) return refuseInput([moved]);
  const merged = Object.entries({ ...before, ...body }).filter(([, value]) => value !== null);
  const unknown = unknownProblems(body, Object.keys(kind.fields));
  if (unknown.length > 0) return refuseInput(unknown);
  const reading = read(kind, store, Object.fromEntries(merged));
  if (!reading.ok) return refuseInput(reading.problems);
  collection.set(reading.value);
  return recordReply(reading.value);
}

/** What is wrong where a body gives a record another id than its path does. */
function otherId(body: unknown, member: string, id: bigint): Problem | undefined {
  if (!isObject(body) || !Object.hasOwn(body, member)) return undefined;
  if (toInt64(body[member]) === id) return undefined;
  const expected = `${id}, as in the path`;
  return { path: `$.${member}`, expected, found: describe(body[member]) };
}

/** Reads a whole record, and checks it as a fixture's is. */
function read<const F extends Fields>(
  { fields }: Pick<Kind<F>, 'fields'>,
  store: Store,
  value: unknown,
): Reading<RecordOf<F>> {
  const problems: Problem[] = [...unknownProblems(value, Object.keys(fields))];
  const reading = readRecord(fields, value);
  if (!reading.ok) problems.push(...reading.problems);
  const petId = isObject(value) && Object.hasOwn(value, 'petId') ? toInt64(value.petId) : undefined;
  if (petId !== undefined && Object.hasOwn(fields, 'petId') && !store.animals.has(petId)) {
    const found = `${petId}, which no animal has`;
    problems.push({ path: '$.petId', expected: 'the id of an animal', found });
  }
  return problems.length > 0 ? { ok: false, problems } : reading;
}

function idOf<F extends Fields>({ name }: Kind<F>, record: RecordOf<F>): bigint {
  const members: Readonly<Record<string, unknown>> = record;
  const id = toInt64(members[ID_NAME[name]]);
  if (id === undefined) throw new TypeError('A record has been read without its id.');
  return id;
}
