import { COLLECTIONS } from '../../contract/records.ts';
import type { Run } from '../changes.ts';
import { recordText } from '../record-text.ts';
import type { Store } from '../store.ts';

/** The least size of a piece in bytes. */
const PIECE = 64 * 1024;

const BETWEEN_RECORDS = ',\n    ';

/**
 * The text of a store as a fixture, with a line for each record. Comes in pieces, so that a store of
 * any size can be written without holding its text or delaying requests.
 */
export function* storeText(store: Store): Generator<Buffer> {
  let gathered: Buffer[] = [];
  let size = 0;
  for (const part of partsOf(store)) {
    gathered.push(part);
    size += part.length;
    if (size < PIECE) continue;
    yield Buffer.concat(gathered, size);
    gathered = [];
    size = 0;
  }
  yield Buffer.concat(gathered, size);
}

function* partsOf(store: Store): Generator<Buffer> {
  let opening = '{';
  for (const name of COLLECTIONS) {
    yield Buffer.from(`${opening}\n  "${name}": [`);
    opening = ',';
    let between = '\n    ';
    for (const run of store[name].runs()) {
      const text = textOf(run);
      if (text.length === 0) continue;
      yield Buffer.from(between);
      yield text;
      between = BETWEEN_RECORDS;
    }
    yield Buffer.from(between === BETWEEN_RECORDS ? '\n  ]' : ']');
  }
  yield Buffer.from('\n}\n');
}

function textOf(run: Run<object>): Buffer {
  return Buffer.from(run.records().map(recordText).join(BETWEEN_RECORDS));
}
