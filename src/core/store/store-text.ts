import { joinBytes, toBytes } from '../bytes.ts';
import { COLLECTIONS } from '../contract/records.ts';
import type { ListText, Store } from './store.ts';

/** As JSON, bigints as digits. Members must be scalars with plain names. */
export function recordText(record: object): string {
  const members = Object.entries(record).map(
    ([name, value]) =>
      `"${name}":${typeof value === 'string' ? JSON.stringify(value) : String(value)}`,
  );
  return `{${members.join()}}`;
}

const recordTexts = new WeakMap<object, string>();

/** Keeps the text of a record: each change of its collection writes it again. */
export function cachedRecordText(record: object): string {
  let text = recordTexts.get(record);
  if (text === undefined) {
    text = recordText(record);
    recordTexts.set(record, text);
  }
  return text;
}

/** A JSON array in pieces, with `end` after the last item. */
export function* listText<T>(
  items: Iterable<T>,
  textOf: (item: T) => string,
  end = '',
): Generator<string, undefined> {
  let open = '[';
  for (const item of items) {
    yield open + textOf(item);
    open = ',';
  }
  yield open === '[' ? '[]' : `${end}]`;
}

/** In characters: a longer text is written to a socket faster as bytes. */
const MAX_STRING = 8192;

export function writeList<R>(source: Iterable<R>, textOf: (record: R) => string): ListText {
  const written: Uint8Array[] = [];
  let text = '';
  let open = '[';
  for (const record of source) {
    text += open + textOf(record);
    open = ',';
    // The pieces of one long text would outlive a garbage collection.
    if (text.length <= MAX_STRING) continue;
    written.push(toBytes(text));
    text = '';
  }
  text += open === '[' ? '[]' : ']';
  if (written.length > 0) written.push(toBytes(text));
  return { text: written.length > 0 ? joinBytes(written) : text };
}

/** A fixture with a line for each record, in pieces: it can be longer than a string. */
export function* storeText(store: Store): Generator<string, undefined> {
  let open = '{';
  for (const name of COLLECTIONS) {
    yield `${open}\n  "${name}": `;
    yield* listText<object>(
      store[name].ascending(),
      (record) => `\n    ${recordText(record)}`,
      '\n  ',
    );
    open = ',';
  }
  yield '\n}\n';
}

/** In characters; only the last chunk is shorter. */
export const CHUNK = 64 * 1024;

export function* joinChunks(pieces: Iterable<string>): Generator<string, undefined> {
  let chunk = '';
  for (const piece of pieces) {
    chunk += piece;
    if (chunk.length < CHUNK) continue;
    yield chunk;
    chunk = '';
  }
  yield chunk;
}
