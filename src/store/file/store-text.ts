import { COLLECTIONS } from '../../contract/records.ts';
import { recordText } from '../record-text.ts';
import type { Store } from '../store.ts';

/** In characters. */
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
