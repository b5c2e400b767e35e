import { createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { type CollectionName, STORED_RECORDS } from '../contract/records.ts';
import type { Base } from './collection.ts';
import type { StoreBase } from './store.ts';

/** Characters gathered before they are passed on. */
const CHUNK_LENGTH = 64 * 1024;

export const COLLECTIONS: readonly CollectionName[] = ['animals', 'inventory', 'orders'];

/** The records of a store, each collection in the order in which it is written. */
export type FixtureSource = Readonly<Record<CollectionName, Iterable<object>>>;

/** A base as what a fixture is written from. */
export function sourceOf(base: StoreBase): FixtureSource {
  return {
    animals: every(base.animals),
    inventory: every(base.inventory),
    orders: every(base.orders),
  };
}

function* every<R extends object>({ size, at }: Base<R>): Generator<R> {
  for (let position = 0; position < size; position += 1) yield at(position);
}

/**
 * The text of a fixture, one record a line, ids as all their digits. In pieces, so that a store of
 * any size can be written without holding it.
 */
export function* fixtureText(source: FixtureSource): Generator<string> {
  let text = '{';
  let separator = '';
  for (const name of COLLECTIONS) {
    text += `${separator}\n  "${name}": [`;
    separator = ',';
    let between = '';
    for (const record of source[name]) {
      text += `${between}\n    ${recordText(name, record)}`;
      between = ',';
      if (text.length >= CHUNK_LENGTH) {
        yield text;
        text = '';
      }
    }
    text += between === '' ? ']' : '\n  ]';
  }
  yield `${text}\n}\n`;
}

/**
 * Writes a store as a fixture file, in place of what is at `path`.
 *
 * @throws the file system's error (ENOENT, EACCES, ENOSPC, …) where the file cannot be written
 */
export async function writeFixture(base: StoreBase, path: string): Promise<void> {
  await pipeline(fixtureText(sourceOf(base)), createWriteStream(path));
}

const FIELDS = {
  animals: Object.keys(STORED_RECORDS.animals),
  inventory: Object.keys(STORED_RECORDS.inventory),
  orders: Object.keys(STORED_RECORDS.orders),
} as const satisfies Record<CollectionName, readonly string[]>;

/** A record as one line: the members that it has, in the order of its fields. */
export function recordText(collection: CollectionName, record: object): string {
  const members: Readonly<Record<string, unknown>> = { ...record };
  let text = '';
  for (const name of FIELDS[collection]) {
    const value = members[name];
    if (value === undefined) continue;
    const written = typeof value === 'string' ? JSON.stringify(value) : String(value);
    text += `${text === '' ? '{' : ','} "${name}": ${written}`;
  }
  return text === '' ? '{}' : `${text} }`;
}
