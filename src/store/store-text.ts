import type { CollectionName } from '../contract/records.ts';
import type { Run } from './collection.ts';
import type { Store } from './store.ts';
import { COLLECTIONS, recordText } from './write-fixture.ts';

/** Records of a base whose text is kept together. */
const RUN_LENGTH = 512;

/** Bytes that are gathered before they are passed on. */
const PIECE = 1024 * 1024;

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
  readonly base: object;
  runs(length: number): Iterable<Run<object>>;
}

/** The texts of one collection that are still true. */
class CollectionText {
  #base: object | undefined;
  /** Of runs of the base that nobody has changed, by position. */
  #runs = new Map<number, Buffer>();
  /** Of records that are not in the base. They never change, and there may be many. */
  readonly #records = new WeakMap<object, string>();

  *runs(name: CollectionName, collection: Written): Generator<Buffer> {
    if (collection.base !== this.#base) {
      this.#base = collection.base;
      this.#runs = new Map();
    }
    for (const { position, records } of collection.runs(RUN_LENGTH)) {
      if (position === undefined) yield Buffer.from(this.#joined(name, records));
      else {
        let text = this.#runs.get(position);
        if (text === undefined) {
          text = Buffer.from(Array.from(records, (it) => recordText(name, it)).join(BETWEEN));
          this.#runs.set(position, text);
        }
        yield text;
      }
    }
  }

  #joined(name: CollectionName, records: Iterable<object>): string {
    const texts: string[] = [];
    for (const record of records) {
      let text = this.#records.get(record);
      if (text === undefined) {
        text = recordText(name, record);
        this.#records.set(record, text);
      }
      texts.push(text);
    }
    return texts.join(BETWEEN);
  }
}
