import { createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { type CollectionName, STORED_RECORDS } from '../contract/records.ts';
import type { StoreBase } from './store.ts';

/** Characters gathered before they are passed on. */
const CHUNK_LENGTH = 64 * 1024;

const COLLECTIONS: readonly CollectionName[] = ['animals', 'inventory', 'orders'];

/**
 * The text of a fixture with the records of a store, one record a line, ids as all their digits. In
 * pieces, so that a store of any size can be written without holding it.
 */
export function* fixtureText(base: StoreBase): Generator<string> {
  let text = '{';
  let separator = '';
  for (const name of COLLECTIONS) {
    text += `${separator}\n  "${name}": [`;
    separator = ',';
    const { size, at } = base[name];
    for (let position = 0; position < size; position += 1) {
      text += `${position === 0 ? '' : ','}\n    ${recordText(name, at(position))}`;
      if (text.length >= CHUNK_LENGTH) {
        yield text;
        text = '';
      }
    }
    text += size === 0 ? ']' : '\n  ]';
  }
  yield `${text}\n}\n`;
}

/**
 * Writes a store as a fixture file, in place of what is at `path`.
 *
 * @throws the file system's error (ENOENT, EACCES, ENOSPC, …) where the file cannot be written
 */
export async function writeFixture(base: StoreBase, path: string): Promise<void> {
  await pipeline(fixtureText(base), createWriteStream(path));
}

/** The members that a record has, in the order of its fields. */
function recordText(collection: CollectionName, record: object): string {
  const values = new Map<string, unknown>(Object.entries(record));
  let text = '';
  for (const name in STORED_RECORDS[collection]) {
    const value = values.get(name);
    if (value === undefined) continue;
    const written = typeof value === 'bigint' ? String(value) : JSON.stringify(value);
    text += `${text === '' ? '{' : ','} "${name}": ${written}`;
  }
  return text === '' ? '{}' : `${text} }`;
}
