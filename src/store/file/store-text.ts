import { COLLECTIONS, type CollectionName } from '../../contract/records.ts';
import type { Run } from '../collection.ts';
import { recordText } from '../fixture/write-fixture.ts';
import type { Store } from '../store.ts';

/** Records of a base whose text is kept together. */
const RUN_LENGTH = 512;

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
  readonly base: object;
  runs(length: number): Iterable<Run<object>>;
}

/** Some records, and the text of them all. */
interface KeptRun {
  readonly records: readonly object[];
  readonly text: Buffer;
}

/** The texts of one collection that are still true. */
class CollectionText {
  #base: object | undefined;
  /** Of runs of the base that nobody has changed, by position. */
  #unchanged = new Map<number, Buffer>();
  /** Of other runs, by their first record: records never change, and most are added at the end. */
  #changed = new Map<object, KeptRun>();

  *runs(name: CollectionName, collection: Written): Generator<Buffer> {
    if (collection.base !== this.#base) {
      this.#base = collection.base;
      this.#unchanged = new Map();
    }
    const before = this.#changed;
    this.#changed = new Map();
    for (const { position, records } of collection.runs(RUN_LENGTH)) {
      if (position !== undefined) yield this.#textAt(position, name, records);
      else for (const run of inRuns(records)) yield this.#textOf(run, name, before);
    }
  }

  #textAt(position: number, name: CollectionName, records: Iterable<object>): Buffer {
    let text = this.#unchanged.get(position);
    if (text === undefined) {
      text = write(name, [...records]);
      this.#unchanged.set(position, text);
    }
    return text;
  }

  #textOf(
    records: readonly object[],
    name: CollectionName,
    before: ReadonlyMap<object, KeptRun>,
  ): Buffer {
    const [first] = records;
    if (first === undefined) return Buffer.alloc(0);
    const kept = before.get(first);
    const text =
      kept !== undefined && areSame(kept.records, records) ? kept.text : write(name, records);
    this.#changed.set(first, { records, text });
    return text;
  }
}

function write(name: CollectionName, records: readonly object[]): Buffer {
  return Buffer.from(records.map((record) => recordText(name, record)).join(BETWEEN));
}

function* inRuns(records: Iterable<object>): Generator<readonly object[]> {
  let run: object[] = [];
  for (const record of records) {
    run.push(record);
    if (run.length < RUN_LENGTH) continue;
    yield run;
    run = [];
  }
  yield run;
}

function areSame(some: readonly object[], others: readonly object[]): boolean {
  return some.length === others.length && some.every((record, index) => record === others[index]);
}
