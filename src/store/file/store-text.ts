import { COLLECTIONS } from '../../contract/records.ts';
import type { Run } from '../changes.ts';
import { recordText } from '../record-text.ts';
import type { Store } from '../store.ts';

/** The size of a piece in bytes. */
export const PIECE = 1024 * 1024;

const BETWEEN_RECORDS = ',\n    ';

/**
 * The text of a store as a fixture, with a line for each record. Comes in pieces, so that a store of
 * any size can be written without holding its text or delaying requests.
 *
 * @param kept the texts of the last call, to speed up repeated writes of the same store
 */
export function* storeText(store: Store, kept?: KeptTexts): Generator<Buffer> {
  let gathered: Buffer[] = [];
  let size = 0;
  for (const part of partsOf(store, kept)) {
    gathered.push(part);
    size += part.length;
    if (size < PIECE) continue;
    yield Buffer.concat(gathered, size);
    gathered = [];
    size = 0;
  }
  yield Buffer.concat(gathered, size);
  kept?.forgetUnused();
}

function* partsOf(store: Store, kept: KeptTexts | undefined): Generator<Buffer> {
  let opening = '{';
  for (const name of COLLECTIONS) {
    yield Buffer.from(`${opening}\n  "${name}": [`);
    opening = ',';
    let between = '\n    ';
    for (const run of store[name].runs()) {
      const text = kept?.textOf(run) ?? textOf(run);
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

/**
 * Caches the texts of runs by version, so that a write makes only those of changed runs. With one
 * change among 100,000 animals and orders, a write takes a thirtieth of the time.
 */
export class KeptTexts {
  #last = new Map<number, Buffer>();
  #used = new Map<number, Buffer>();

  textOf(run: Run<object>): Buffer {
    const text = this.#last.get(run.version) ?? textOf(run);
    this.#used.set(run.version, text);
    return text;
  }

  forgetUnused(): void {
    this.#last = this.#used;
    this.#used = new Map();
  }
}
