import { closest, distance } from 'fastest-levenshtein';
import { toInt64 } from '../contract/int64.ts';
import {
  type CollectionName,
  describe,
  type Fields,
  isObject,
  type Problem,
  type Reading,
  type RecordOf,
  readRecord,
  STORED_RECORDS,
  unknownMembers,
} from '../contract/records.ts';
import { memberPath } from './places.ts';
import type { StoreRecords } from './store.ts';

const COLLECTIONS = Object.keys(STORED_RECORDS);

/** Where the records of a collection are in the document, by id. */
type Positions = ReadonlyMap<bigint, number>;

/**
 * Reads a parsed JSON value (see `parseJson`) as the records of a whole store. A collection that is
 * left out is empty; a member that no record has is a problem, since it is most likely misspelt.
 * Ids must differ within a collection, and every petId must be an animal's.
 */
export function readStore(document: unknown): Reading<StoreRecords> {
  if (!isObject(document)) {
    const expected = `an object with ${listed(COLLECTIONS, 'and')}`;
    return { ok: false, problems: [{ path: '$', expected, found: describe(document) }] };
  }
  const problems: Problem[] = [];
  tellUnknown(problems, '$', COLLECTIONS, Object.keys(document));
  const read = <F extends Fields>(name: CollectionName, fields: F, animals?: Positions) =>
    readCollection({ name, fields, value: document[name], animals, problems });
  const animals = read('animals', STORED_RECORDS.animals);
  const inventory = read('inventory', STORED_RECORDS.inventory, animals.positions);
  const orders = read('orders', STORED_RECORDS.orders, animals.positions);
  if (problems.length > 0) return { ok: false, problems };
  return {
    ok: true,
    value: { animals: animals.records, inventory: inventory.records, orders: orders.records },
  };
}

/** A name in quotes, with the nearest of the right ones where it is near enough to be meant. */
export function suggest(name: string, names: readonly string[]): string {
  const nearest = names.length > 0 ? closest(name, names) : '';
  const near = nearest !== '' && distance(name, nearest) <= Math.max(2, nearest.length / 2);
  return near ? ` (did you mean ${nearest}?)` : '';
}

/** Names as a sentence has them: `a, b and c`. */
export function listed(names: readonly string[], conjunction: 'and' | 'or'): string {
  return names.length < 2
    ? names.join('')
    : `${names.slice(0, -1).join(', ')} ${conjunction} ${names.at(-1)}`;
}

interface CollectionReading<F extends Fields> {
  readonly name: CollectionName;
  readonly fields: F;
  readonly value: unknown;
  /** The animals that a petId may name; undefined where none is checked. */
  readonly animals: Positions | undefined;
  readonly problems: Problem[];
}

function readCollection<const F extends Fields>(
  reading: CollectionReading<F>,
): {
  records: RecordOf<F>[];
  positions?: Positions;
} {
  const { name, fields, value, animals, problems } = reading;
  const records: RecordOf<F>[] = [];
  const positions = new Map<bigint, number>();
  if (value === undefined) return { records, positions };
  if (!Array.isArray(value)) {
    problems.push({ path: `$.${name}`, expected: 'an array', found: describe(value) });
    return { records };
  }
  const names = Object.keys(fields);
  const elements: readonly unknown[] = value;
  for (let index = 0; index < elements.length; index += 1) {
    const element = elements[index];
    const record = readRecord(fields, element);
    if (record.ok) records.push(record.value);
    // Only a broken record needs its path, and making one for each would cost more than reading it.
    else problems.push(...problemsAt(fields, element, `$.${name}[${index}]`));
    if (!isObject(element)) continue;
    const unknown = unknownMembers(fields, element);
    if (unknown.length > 0) tellUnknown(problems, `$.${name}[${index}]`, names, unknown);
    takeId(reading, element, index, positions);
    if (animals !== undefined) checkAnimal(reading, element, index, animals);
  }
  return { records, positions };
}

/** Told for broken records too: their ids still count, and must not be missed by what names them. */
function takeId(
  { name, problems }: CollectionReading<Fields>,
  element: Readonly<Record<string, unknown>>,
  index: number,
  positions: Map<bigint, number>,
): void {
  const member = name === 'inventory' ? 'petId' : 'id';
  const id = toInt64(element[member]);
  if (id === undefined) return;
  const first = positions.get(id);
  if (first === undefined) positions.set(id, index);
  else {
    problems.push({
      path: `$.${name}[${index}].${member}`,
      expected: `an id that no other record of ${name} has`,
      found: `${id}, as at $.${name}[${first}]`,
    });
  }
}

function checkAnimal(
  { name, problems }: CollectionReading<Fields>,
  element: Readonly<Record<string, unknown>>,
  index: number,
  animals: Positions,
): void {
  const petId = toInt64(element.petId);
  if (petId === undefined || animals.has(petId)) return;
  problems.push({
    path: `$.${name}[${index}].petId`,
    expected: 'the id of an animal',
    found: `${petId}, which no animal has`,
  });
}

function problemsAt(fields: Fields, value: unknown, path: string): readonly Problem[] {
  const reading = readRecord(fields, value, path);
  return reading.ok ? [] : reading.problems;
}

function tellUnknown(
  problems: Problem[],
  path: string,
  names: readonly string[],
  found: readonly string[],
): void {
  for (const name of found) {
    if (names.includes(name)) continue;
    problems.push({
      path: path + memberPath(name),
      expected: listed(names, 'or'),
      found: `${describe(name)}${suggest(name, names)}`,
    });
  }
}
