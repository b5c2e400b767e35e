import { COLLECTIONS } from '../contract/records.ts';
import type { Store } from './store.ts';

/** Writes a record as JSON, bigints as digits. Its members must be scalars with plain names. */
export function recordText(record: object): string {
  let text = '';
  for (const piece of recordPieces(record)) text += piece;
  return text;
}

/** Characters of a value that is written whole. A longer one is written in pieces of this size. */
const PIECE = 64 * 1024;

/** `recordText` in pieces, so that a text of any length is not copied as a whole. */
export function* recordPieces(record: object): Generator<string> {
  let rest = '{';
  for (const [name, value] of Object.entries(record)) {
    rest += `${rest === '{' ? '' : ','}"${name}":`;
    if (typeof value !== 'string') rest += String(value);
    else if (value.length <= PIECE) rest += JSON.stringify(value);
    else {
      yield `${rest}"`;
      for (const piece of cut(value)) yield JSON.stringify(piece).slice(1, -1);
      rest = '"';
    }
  }
  yield `${rest}}`;
}

/** Cuts a text into pieces, but no character in two. */
function* cut(text: string): Generator<string> {
  for (let from = 0; from < text.length; ) {
    const to = from + PIECE;
    const end = /[\ud800-\udbff]/.test(text.charAt(to - 1)) ? to + 1 : to;
    yield text.slice(from, end);
    from = end;
  }
}

/** Writes a JSON array of records in pieces. */
export function* arrayText(records: Iterable<object>): Generator<string> {
  let open = '[';
  for (const record of records) {
    yield open;
    yield* recordPieces(record);
    open = ',';
  }
  yield open === '[' ? '[]' : ']';
}

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
