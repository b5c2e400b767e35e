import { COLLECTIONS } from '../contract/records.ts';
import type { Store } from './store.ts';

/** Writes a record as JSON, bigints as digits. Its members must be scalars with plain names. */
export function recordText(record: object): string {
  const members = Object.entries(record).map(
    ([name, value]) =>
      `"${name}":${typeof value === 'string' ? JSON.stringify(value) : String(value)}`,
  );
  return `{${members.join()}}`;
}

/** Writes a JSON array of records in pieces. */
export function arrayText(records: Iterable<object>): Generator<string> {
  return listText(records, recordText);
}

/** Writes a JSON array in pieces. */
export function* listText<T>(items: Iterable<T>, textOf: (item: T) => string): Generator<string> {
  let open = '[';
  for (const item of items) {
    yield open + textOf(item);
    open = ',';
  }
  yield open === '[' ? '[]' : ']';
}

/** Characters of a store that are written at once. */
const PIECE = 64 * 1024;

/**
 * The text of a store as a fixture, with a line for each record. Comes in pieces: the text of a large
 * store can be longer than a string.
 */
export function* storeText(store: Store): Generator<Buffer> {
  let text = '{';
  for (const [index, name] of COLLECTIONS.entries()) {
    text += `${index === 0 ? '' : ','}\n  "${name}": [`;
    let between = '\n    ';
    for (const record of store[name].ascending()) {
      text += between + recordText(record);
      between = ',\n    ';
      if (text.length < PIECE) continue;
      yield Buffer.from(text);
      text = '';
    }
    text += store[name].size === 0 ? ']' : '\n  ]';
  }
  yield Buffer.from(`${text}\n}\n`);
}
