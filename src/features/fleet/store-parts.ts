import {
  COLLECTIONS,
  type CollectionName,
  STORED_RECORDS,
  type StoredRecord,
} from '../../core/contract/records.ts';
import { parseJson } from '../../core/json.ts';
import { problemText } from '../../core/problems.ts';
import { list, readAs, type Shape } from '../../core/shape/shapes.ts';
import type { Records, Store } from '../../core/store/store.ts';
import { cachedRecordText } from '../../core/store/store-text.ts';

export type NamedPart = readonly [name: string, text: string];

/** A part of a collection has 32 ids, so that a change writes only a part. */
const PART_BITS = 5n;

/** A part without a number has the highest id that was ever used. */
interface StorePart {
  readonly collection: CollectionName;
  readonly number: bigint | undefined;
}

const NEVER = 'never';

export function parseStorePart(part: string): StorePart | undefined {
  const [name, number] = part.split('/');
  const collection = COLLECTIONS.find((known) => known === name);
  return collection && { collection, number: number === undefined ? undefined : BigInt(number) };
}

function* recordsInPart<R extends object>(records: Records<R>, part: bigint): Generator<R> {
  for (const record of records.ascending((part << PART_BITS) - 1n)) {
    if (records.idOf(record) >> PART_BITS !== part) return;
    yield record;
  }
}

export function writeRecords<Name extends CollectionName>(
  store: Pick<Store, Name>,
  { collection, number }: StorePart & { readonly collection: Name },
): string {
  const records: Records<StoredRecord[Name]> = store[collection];
  if (number === undefined) return `${records.highestId ?? NEVER}`;
  return Array.from(recordsInPart(records, number), cachedRecordText).join('\n');
}

export function* changedRecords<Name extends CollectionName>(
  collection: Name,
  before: Store,
  after: Store,
): Generator<NamedPart> {
  const records: Records<StoredRecord[Name]> = after[collection];
  if (records === before[collection]) return;
  if (records.highestId !== before[collection].highestId) {
    yield [collection, writeRecords(after, { collection, number: undefined })];
  }
  const ids = records.changedIds(before[collection]);
  for (const number of new Set(ids.map((id) => id >> PART_BITS))) {
    yield [`${collection}/${number}`, writeRecords(after, { collection, number })];
  }
}

export function readRecords(store: Store, { collection, number }: StorePart, text: string): Store {
  if (number !== undefined) return replaceRecords(store, collection, number, text);
  const highestId = text === NEVER ? undefined : BigInt(text);
  return { ...store, [collection]: store[collection].withHighestId(highestId) };
}

/** Parses only the parts that differ. */
function replaceRecords<Name extends CollectionName>(
  store: Store,
  name: Name,
  part: bigint,
  text: string,
): Store {
  const records: Records<StoredRecord[Name]> = store[name];
  const shape: Shape<StoredRecord[Name]> = STORED_RECORDS[name];
  const added = new Set(text === '' ? [] : text.split('\n'));
  const removed = [...recordsInPart(records, part)].filter(
    (record) => !added.delete(cachedRecordText(record)),
  );
  const parsed = readExactly(list(shape), `[${[...added]}]`);
  const restored = records.without(removed.map(records.idOf)).withAll(parsed);
  return { ...store, [name]: restored.withHighestId(records.highestId) };
}

export function readExactly<T>(shape: Shape<T>, json: string): T {
  const reading = readAs(shape, parseJson(json));
  if (reading.ok) return reading.value;
  const [problem] = reading.problems;
  throw new Error(problem && problemText(problem));
}
