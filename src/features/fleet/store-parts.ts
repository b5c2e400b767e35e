import {
  COLLECTIONS,
  type CollectionName,
  STORED_RECORDS,
  type StoredRecord,
} from '../../core/contract/records.ts';
import { parseJson } from '../../core/json.ts';
import { StorageError } from '../../core/sandbox/storage-error.ts';
import type { Start } from '../../core/scenario/sandbox-start.ts';
import { list, readAs, type Shape } from '../../core/shape/shapes.ts';
import type { Records, Store } from '../../core/store/store.ts';
import { cachedRecordText } from '../../core/store/store-text.ts';
import { problemText } from '../../core/words.ts';

/** The version of each part that differs from the start. */
export type Versions = ReadonlyMap<string, number>;

export interface KnownStore {
  readonly store: Store;
  readonly versions: Versions;
}

export type NamedPart = readonly [name: string, text: string];

/** Redis has changed meanwhile, or the sandbox was created anew. */
export class PartGoneError extends Error {}

/** Gives the texts of these fields, each a part and its version. @throws PartGoneError */
export type ReadFields = (fields: readonly string[]) => Promise<(field: string) => string>;

export const fieldOf = ([part, version]: readonly [string, number]) => `${part}@${version}`;

/** A store, made of another one. What it has no version of is as at the start. */
export async function readStore(
  base: KnownStore,
  wanted: Versions,
  read: ReadFields,
  start: Start,
): Promise<Store> {
  const parts = [...new Set([...base.versions.keys(), ...wanted.keys()])].filter(
    (part) => isOfStore(part) && base.versions.get(part) !== wanted.get(part),
  );
  const fields = new Map([...wanted].map((versioned) => [versioned[0], fieldOf(versioned)]));
  const textOf = await read(parts.flatMap((part) => fields.get(part) ?? []));
  let { store } = base;
  for (const part of parts) {
    const field = fields.get(part);
    const text =
      field === undefined ? writeRecords(start.store, ...parsePart(part)) : textOf(field);
    store = readRecords(store, part, text);
  }
  return store;
}

/** Whoever has written it, it was no server of this fleet. */
export function spoiltError(what: string, error: unknown): StorageError {
  const why = error instanceof Error ? error.message : String(error);
  return new StorageError(
    `the ${what} of the sandbox in Redis cannot be read (${why}): delete the sandbox or its keys`,
  );
}

/** A collection is written in parts of 32 ids, so that a change does not write all of it. */
const PART_BITS = 5n;

const NEVER = 'never';

export function storeVersions(versions: Versions): Versions {
  return new Map([...versions].filter(([part]) => isOfStore(part)));
}

function findCollection(part: string): CollectionName | undefined {
  return COLLECTIONS.find((name) => part === name || part.startsWith(`${name}/`));
}

export function isOfStore(part: string): boolean {
  return findCollection(part) !== undefined;
}

/** A part without a number is the highest id that was ever used. */
function parsePart(part: string): readonly [name: CollectionName, number: bigint | undefined] {
  const [, number] = part.split('/');
  const name = findCollection(part);
  if (name === undefined) throw new Error(`there is no part ${part}`);
  return [name, number === undefined ? undefined : BigInt(number)];
}

function* recordsInPart<R extends object>(records: Records<R>, part: bigint): Generator<R> {
  for (const record of records.ascending((part << PART_BITS) - 1n)) {
    if (records.idOf(record) >> PART_BITS !== part) return;
    yield record;
  }
}

function writeRecords<Name extends CollectionName>(
  store: Pick<Store, Name>,
  name: Name,
  number: bigint | undefined,
): string {
  const records: Records<StoredRecord[Name]> = store[name];
  if (number === undefined) return `${records.highestId ?? NEVER}`;
  return Array.from(recordsInPart(records, number), cachedRecordText).join('\n');
}

export function* changedRecords<Name extends CollectionName>(
  name: Name,
  before: Store,
  after: Store,
): Generator<NamedPart> {
  const records: Records<StoredRecord[Name]> = after[name];
  if (records.highestId !== before[name].highestId)
    yield [name, writeRecords(after, name, undefined)];
  const ids = records.changedIds(before[name]);
  for (const number of new Set(ids.map((id) => id >> PART_BITS))) {
    yield [`${name}/${number}`, writeRecords(after, name, number)];
  }
}

function readRecords(store: Store, part: string, text: string): Store {
  const [name, number] = parsePart(part);
  if (number !== undefined) return replaceRecords(store, name, number, text);
  const highestId = text === NEVER ? undefined : BigInt(text);
  return { ...store, [name]: store[name].withHighestId(highestId) };
}

/** Parses only those that differ. */
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
