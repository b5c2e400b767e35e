import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Base, baseOf, type Subset } from '../../src/store/base.ts';
import { copyOf, noChanges, ownRun, replaceIn } from '../../src/store/changes.ts';
import { Collection } from '../../src/store/collection.ts';

interface Item {
  readonly id: bigint;
  readonly text: string;
}

const idOf = ({ id }: Item): bigint => id;

/** Texts of runs by version, over all cases: an equal version must mean equal records. */
const runTexts = new Map<number, string>();

function expectRuns(real: Collection<Item>): void {
  const runs = [...real.runs()].map(({ version, records }) => ({ version, records: records() }));
  expect(runs.flatMap(({ records }) => records)).toEqual([...real.ascending()]);
  for (const { version, records } of runs) {
    const text = records.map(({ id, text }) => `${id} ${text}`).join();
    expect(runTexts.get(version) ?? text).toBe(text);
    runTexts.set(version, text);
  }
}

/** The same for the first records, by version and count. */
const firstTexts = new Map<string, string>();

function expectFirst(real: Collection<Item>, model: Model): void {
  for (const count of [2, 64]) {
    const key = `${real.versionOfFirst(count)} ${count}`;
    const first = model.ascending().slice(0, count);
    const text = first.map(({ id, text }) => `${id} ${text}`).join();
    expect(firstTexts.get(key) ?? text).toBe(text);
    firstTexts.set(key, text);
  }
}

function withText(base: Base<Item>, text: string): Subset<Item> {
  const positions = Array.from({ length: base.size }, (_, position) => position);
  return {
    positions: positions.filter((position) => base.at(position).text === text),
    includes: (record) => record.text === text,
  };
}

/** What a collection should do, done the plain way. */
class Model {
  readonly records: Map<bigint, Item>;
  highest: bigint | undefined;

  constructor(records: Iterable<Item>, highest?: bigint) {
    this.records = new Map([...records].map((record) => [record.id, record]));
    this.highest = highest;
    for (const id of this.records.keys()) this.#use(id);
  }

  set(record: Item): void {
    this.records.set(record.id, record);
    this.#use(record.id);
  }

  ascending(after?: bigint): Item[] {
    return [...this.records.values()]
      .toSorted((a, b) => (a.id < b.id ? -1 : 1))
      .filter(({ id }) => after === undefined || id > after);
  }

  descending(before?: bigint): Item[] {
    return this.ascending()
      .toReversed()
      .filter(({ id }) => before === undefined || id < before);
  }

  fork(): Model {
    return new Model(this.records.values(), this.highest);
  }

  #use(id: bigint): void {
    if (this.highest === undefined || id > this.highest) this.highest = id;
  }
}

interface Pair {
  readonly real: Collection<Item>;
  readonly model: Model;
}

// Few ids, so that commands meet; the ends of int64 among them.
const anId = fc.oneof(
  { weight: 9, arbitrary: fc.bigInt({ min: -4n, max: 12n }) },
  // Beyond several runs of a base that has them.
  { weight: 3, arbitrary: fc.bigInt({ min: 60n, max: 300n }) },
  { weight: 1, arbitrary: fc.constantFrom(-(2n ** 63n), 2n ** 53n + 1n, 2n ** 63n - 1n) },
);
const aText = fc.oneof(fc.constant('base'), fc.string({ maxLength: 3 }));
const anItem = fc.record({ id: anId, text: aText });
const someItems = fc.uniqueArray(anItem, { selector: ({ id }) => id, maxLength: 12 });
/** Ids that count up from one, which a collection finds by subtraction, and ids with gaps. */
const aBase = fc.oneof(
  someItems,
  fc
    .oneof(fc.nat(12), fc.integer({ min: 60, max: 140 }))
    .map((size) => Array.from({ length: size }, (_, i) => ({ id: BigInt(i + 1), text: 'base' }))),
);

const command = fc.oneof(
  fc.record({ do: fc.constant('set'), who: fc.nat(), item: anItem }),
  fc.record({ do: fc.constant('delete'), who: fc.nat(), item: anItem }),
  fc.record({ do: fc.constant('deleteAll'), who: fc.nat(), item: anItem }),
  fc.record({ do: fc.constant('changeAll'), who: fc.nat(), item: anItem }),
  fc.record({ do: fc.constant('fork'), who: fc.nat(), item: anItem }),
);

function expectSame({ real, model }: Pair, probe: bigint): void {
  expect(real.size).toBe(model.records.size);
  expect(real.highestId).toBe(model.highest);
  expect(real.get(probe)).toEqual(model.records.get(probe));
  expect(real.has(probe)).toBe(model.records.has(probe));
  expect([...real.ascending()]).toEqual(model.ascending());
  expectRuns(real);
  expectFirst(real, model);
  expect([...real.descending()]).toEqual(model.descending());
  expect([...real.ascending(probe)]).toEqual(model.ascending(probe));
  expect([...real.descending(probe)]).toEqual(model.descending(probe));
  const subset = withText(real.base, 'base');
  const includes = ({ text }: Item): boolean => text === 'base';
  expect([...real.ascending(probe, subset)]).toEqual(model.ascending(probe).filter(includes));
  expect([...real.descending(probe, subset)]).toEqual(model.descending(probe).filter(includes));
}

describe('a collection', () => {
  test('and each of its forks behaves as a sorted map of its own', () => {
    const check = fc.property(
      aBase,
      fc.array(command, { maxLength: 30 }),
      anId,
      (records, commands, probe) => {
        const pairs: Pair[] = [
          { real: new Collection(baseOf(records, idOf), idOf), model: new Model(records) },
        ];
        for (const { do: what, who, item } of commands) {
          const pair = pairs[who % pairs.length]!;
          const { real, model } = pair;
          const before = real.version;
          if (what === 'set') {
            real.set(item);
            model.set(item);
            expect(real.version !== before).toBe(true);
          } else if (what === 'delete') {
            const removed = model.records.delete(item.id);
            expect(real.delete(item.id)).toBe(removed);
            expect(real.version !== before).toBe(removed);
          } else if (what === 'deleteAll') {
            const ids = new Set([item.id, item.id + 1n, item.id + 2n]);
            const removed = [...ids].filter((id) => model.records.delete(id)).length > 0;
            real.deleteAll(ids);
            expect(real.version !== before).toBe(removed);
          } else if (what === 'changeAll') {
            const change = (it: Item): Item => ({ ...it, text: `${it.text}${item.text}` });
            real.changeAll(change, {});
            for (const it of model.ascending()) model.set(change(it));
            expect(real.version !== before).toBe(true);
          } else {
            pairs.push({ real: real.fork(), model: model.fork() });
          }
          for (const each of pairs) expectSame(each, item.id);
        }
        for (const each of pairs) expectSame(each, probe);
      },
    );
    fc.assert(check, { numRuns: 150 });
  });

  test('keeps the version of its first records when others are added or changed', () => {
    const records = Array.from({ length: 100 }, (_, id) => ({ id: BigInt(id), text: 'base' }));
    const collection = new Collection(baseOf(records, idOf), idOf);
    const before = collection.versionOfFirst(64);
    for (const id of [64n, 100n]) collection.set({ id, text: 'new' });
    expect(collection.versionOfFirst(64)).toBe(before);
    expect(collection.versionOfFirst(65)).not.toBe(before);
    collection.delete(63n);
    expect(collection.versionOfFirst(64)).not.toBe(before);
  });

  test('keeps the highest id ever used after its record is removed', () => {
    const collection = new Collection(baseOf([{ id: 5n, text: '' }], idOf), idOf);
    collection.delete(5n);
    expect([collection.size, collection.highestId]).toEqual([0, 5n]);
  });

  test('has no highest id before its first record', () => {
    expect(new Collection(baseOf([], idOf), idOf).highestId).toBeUndefined();
  });

  test('reads only the requested records', () => {
    let read = 0;
    const base: Base<Item> = {
      size: 1_000_000,
      at: (position) => {
        read += 1;
        return { id: BigInt(position + 1), text: '' };
      },
      idAt: (position) => BigInt(position + 1),
    };
    const collection = new Collection(base, idOf);
    collection.ascending(500_000n).next();
    collection.descending(500_000n).next();
    collection.get(7n);
    expect(read).toBe(3);
    collection.changeAll((item) => ({ ...item, text: 'changed' }), {});
    expect(collection.get(8n)).toEqual({ id: 8n, text: 'changed' });
    expect(read).toBe(4);
  });
});

describe('a copy of changes', () => {
  test('shares unmodified runs', () => {
    const changes = noChanges<Item>(undefined);
    for (const run of [1, 2]) replaceIn(ownRun(changes, run), 0, { id: 1n, text: 'before' });
    const copy = copyOf(changes);
    replaceIn(ownRun(copy, 1), 0, { id: 1n, text: 'after' });
    expect(copy.runs?.get(2)).toBe(changes.runs?.get(2));
    expect(changes.runs?.get(1)?.records?.get(0)?.text).toBe('before');
  });
});

describe('a base', () => {
  test('orders its records by id', () => {
    const check = fc.property(someItems, (records) => {
      const base = baseOf(records, idOf);
      const ids = Array.from({ length: base.size }, (_, i) => base.idAt(i));
      expect(ids).toEqual(records.map(idOf).toSorted((a, b) => (a < b ? -1 : 1)));
    });
    fc.assert(check);
  });

  test('throws for a position outside its size', () => {
    expect(() => baseOf([], idOf).at(0)).toThrow(RangeError);
  });
});
