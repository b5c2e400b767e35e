import { COLLECTIONS, type CollectionName } from '../../contract/records.ts';
import type { Run } from '../collection.ts';
import { recordText } from '../fixture/write-fixture.ts';
import type { Store } from '../store.ts';

/** Bytes that are gathered before they are passed on. */
export const PIECE = 1024 * 1024;

/** What is between two records, and between two runs of them. */
const BETWEEN = ',\n    ';

/**
 * Writes a store as a fixture, again and again: the text of what has not changed since is kept, so
 * that writing a large store costs little more than the bytes that are passed on.
 */
export class StoreText {
  readonly #texts = {
    animals: new CollectionText(),
    inventory: new CollectionText(),
    orders: new CollectionText(),
  } as const satisfies Record<CollectionName, CollectionText>;

  /** The text in pieces, each small enough not to keep other requests waiting. */
  *pieces(store: Store): Generator<Buffer> {
    let gathered: Buffer[] = [];
    let size = 0;
    for (const text of this.#parts(store)) {
      gathered.push(text);
      size += text.length;
      if (size < PIECE) continue;
      yield Buffer.concat(gathered, size);
      gathered = [];
      size = 0;
    }
    yield Buffer.concat(gathered, size);
  }

  *#parts(store: Store): Generator<Buffer> {
    let opening = '{';
    for (const name of COLLECTIONS) {
      yield Buffer.from(`${opening}\n  "${name}": [`);
      opening = ',';
      let between = '\n    ';
      for (const run of this.#texts[name].runs(name, store[name])) {
        if (run.length === 0) continue;
        yield Buffer.from(between);
        yield run;
        between = BETWEEN;
      }
      yield Buffer.from(between === BETWEEN ? '\n  ]' : ']');
    }
    yield Buffer.from('\n}\n');
  }
}

/** What the text of a collection is made of. */
interface Written {
  runs(): Iterable<Run<object>>;
}

/** The texts of a collection's runs, by version. */
class CollectionText {
  #texts = new Map<number, Buffer>();

  *runs(name: CollectionName, collection: Written): Generator<Buffer> {
    const before = this.#texts;
    this.#texts = new Map();
    for (const { version, records } of collection.runs()) {
      const text = before.get(version) ?? write(name, records());
      this.#texts.set(version, text);
      yield text;
    }
  }
}

function write(name: CollectionName, records: readonly object[]): Buffer {
  return Buffer.from(records.map((record) => recordText(name, record)).join(BETWEEN));
}
