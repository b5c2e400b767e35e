import { joinBytes, toBytes } from '../bytes.ts';
import { COLLECTIONS } from '../contract/records.ts';
import type { ListText, Store } from './store.ts';

/** The JSON of a record, with bigints as digits. Its members must be scalars with plain names. */
export function recordText(record: object): string {
  const members = Object.entries(record).map(
    ([name, value]) =>
      `"${name}":${typeof value === 'string' ? JSON.stringify(value) : String(value)}`,
  );
  return `{${members.join()}}`;
}

const recordTexts = new WeakMap<object, string>();

/** Caches a record's text, because each change of a collection writes all of its records again. */
export function cachedRecordText(record: object): string {
  let text = recordTexts.get(record);
  if (text === undefined) {
    text = recordText(record);
    recordTexts.set(record, text);
  }
  return text;
}

/** Yields the pieces of a JSON array, with `end` after the last item. */
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

/** In characters. Node writes a longer text to a socket faster as bytes. */
const MAX_STRING = 8192;

export function writeList<R>(source: Iterable<R>, textOf: (record: R) => string): ListText {
  const written: Uint8Array[] = [];
  let text = '';
  let open = '[';
  for (const record of source) {
    text += open + textOf(record);
    open = ',';
    // V8 would keep the pieces of one long text alive through a garbage collection.
    if (text.length <= MAX_STRING) continue;
    written.push(toBytes(text));
    text = '';
  }
  text += open === '[' ? '[]' : ']';
  if (written.length > 0) written.push(toBytes(text));
  return { text: written.length > 0 ? joinBytes(written) : text };
}

/** Yields a fixture with a line for each record. The whole may not fit in one string. */
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

/** In characters. Only the last chunk is shorter. */
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
