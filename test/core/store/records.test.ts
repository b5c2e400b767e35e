import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type ListText, Records } from '../../../src/core/store/store.ts';
import { writeList } from '../../../src/core/store/store-text.ts';

interface Item {
  readonly id: bigint;
  readonly text: string;
}

const idOf = ({ id }: Item): bigint => id;

/** What records should be, done the plain way: a sorted array and the highest id ever used. */
interface Model {
  readonly items: readonly Item[];
  readonly highest: bigint | undefined;
}

function modelOf(items: Iterable<Item>, before?: bigint): Model {
  const byId = new Map([...items].map((item) => [item.id, item]));
  const sorted = [...byId.values()].toSorted((a, b) => (a.id < b.id ? -1 : 1));
  const last = sorted.at(-1)?.id;
  const isHigher = before === undefined || (last !== undefined && last > before);
  return { items: sorted, highest: isHigher ? last : before };
}

interface Pair {
  readonly real: Records<Item>;
  readonly model: Model;
}

// Few ids, so that changes meet; the ends of int64 among them.
const anId = fc.oneof(
  { weight: 9, arbitrary: fc.bigInt({ min: -4n, max: 12n }) },
  { weight: 3, arbitrary: fc.bigInt({ min: 13n, max: 300n }) },
  { weight: 1, arbitrary: fc.constantFrom(-(2n ** 63n), 2n ** 53n + 1n, 2n ** 63n - 1n) },
);
const anItem = fc.record({ id: anId, text: fc.string({ maxLength: 2 }) });
const someItems = fc.oneof(
  fc.array(anItem, { maxLength: 12 }),
  fc
    .integer({ min: 500, max: 1100 }) // several chunks
    .map((size) => Array.from({ length: size }, (_, i) => ({ id: BigInt(i + 1), text: 'first' }))),
);

const isInt64 = (id: bigint): boolean => BigInt.asIntN(64, id) === id;

const withItem = ({ real, model }: Pair, item: Item): Pair => ({
  real: real.with(item),
  model: modelOf([...model.items, item], model.highest),
});

/** Changes of records beside what they should do, by name. */
const CHANGES: Readonly<Record<string, (pair: Pair, item: Item) => Pair>> = {
  with: withItem,
  grown: (pair, { text }) => {
    const from = pair.model.highest ?? 0n;
    if (from > 1000n) return pair;
    const items = Array.from({ length: 20 }, (_, at) => ({ id: from + 1n + BigInt(at), text }));
    return items.reduce(withItem, pair);
  },
  'with all': ({ real, model }, { id, text }) => {
    const items = [id, 7n, id, 2n * id]
      .filter(isInt64)
      .map((it, at) => ({ id: it, text: text + at }));
    return { real: real.withAll(items), model: modelOf([...model.items, ...items], model.highest) };
  },
  without: ({ real, model }, { id }) => ({
    real: real.without([id, id + 1n]),
    model: { ...model, items: model.items.filter((it) => it.id !== id && it.id !== id + 1n) },
  }),
  'without most': ({ real, model }, { id }) => {
    const isGone = (it: Item): boolean => it.id < id || it.id > id + 2n;
    return {
      real: real.without(model.items.filter(isGone).map(idOf)),
      model: { ...model, items: model.items.filter((it) => !isGone(it)) },
    };
  },
  'highest id': (pair, { id }) => {
    const { real, model } = pair;
    if (model.highest !== undefined && id < model.highest) return pair;
    return { real: real.withHighestId(id), model: { ...model, highest: id } };
  },
  cleared: ({ real, model }) => ({ real: real.cleared(), model: { ...model, items: [] } }),
  map: ({ real, model }, { id, text }) => {
    const change = (it: Item): Item => (it.id > id ? { ...it, text: it.text + text } : it);
    return { real: real.map(change), model: { ...model, items: model.items.map(change) } };
  },
};

function expectSame({ real, model: { items, highest } }: Pair, probe: bigint): void {
  expect(real.size).toBe(items.length);
  expect(real.highestId).toBe(highest);
  expect(real.get(probe)).toEqual(items.find(({ id }) => id === probe));
  expect(real.has(probe)).toBe(items.some(({ id }) => id === probe));
  expect([...real.ascending()]).toEqual(items);
  expect([...real.descending()]).toEqual(items.toReversed());
  expect([...real.ascending(probe)]).toEqual(items.filter(({ id }) => id > probe));
  expect([...real.descending(probe)]).toEqual(items.filter(({ id }) => id < probe).toReversed());
}

function expectDifference(one: Pair, other: Pair): void {
  const [mine, theirs] = [one, other].map(
    ({ model }) => new Map(model.items.map((it) => [it.id, it])),
  );
  const isSame = (id: bigint): boolean => mine?.get(id)?.text === theirs?.get(id)?.text;
  const ids = [...new Set([...(mine?.keys() ?? []), ...(theirs?.keys() ?? [])])];
  expect(one.real.changedIds(other.real)).toEqual(
    ids.filter((id) => !isSame(id)).sort((a, b) => (a < b ? -1 : 1)),
  );
  const noted: Item[] = [];
  one.real.changedIds(other.real, (item) => noted.push(item));
  const differ = noted.filter(({ id }) => !isSame(id));
  expect(differ).toEqual(one.model.items.filter(({ id }) => !isSame(id)));
}

test('records are sorted maps, which stay as they are when others are made of them', () => {
  const aChange = fc.record({
    of: fc.nat(),
    name: fc.constantFrom(...Object.keys(CHANGES)),
    item: anItem,
  });
  const property = fc.property(
    someItems,
    fc.array(aChange, { maxLength: 12 }),
    anId,
    (items, changes, probe) => {
      const pairs: Pair[] = [{ real: Records.of(items, idOf), model: modelOf(items) }];
      for (const { of, name, item } of changes) {
        const pair = pairs[of % pairs.length];
        const change = CHANGES[name];
        if (pair !== undefined && change !== undefined) pairs.push(change(pair, item));
      }
      for (const pair of pairs) expectSame(pair, probe);
      for (const [at, pair] of pairs.entries()) expectDifference(pair, pairs[at - 1] ?? pair);
    },
  );
  fc.assert(property, { numRuns: 60 });
});

describe('the list that is kept', () => {
  const FORM = {};
  const listOf = (records: Records<Item>, form: object = FORM, key = ''): ListText =>
    records.list(form, key, () =>
      writeList(records.ascending(), ({ text }) => JSON.stringify(text)),
    );

  test('is written once for the same records, form and key', () => {
    const records = Records.of([{ id: 1n, text: 'a' }], idOf);
    const first = listOf(records);
    expect(first).toEqual({ text: '["a"]' });
    expect(listOf(records)).toBe(first);
    expect(listOf(records, {})).not.toBe(first);
    expect(listOf(records, FORM, 'other')).not.toBe(first);
    expect(listOf(records.with({ id: 2n, text: 'b' })).text).toBe('["a","b"]');
    expect(listOf(records).text).toBe('["a"]');
  });

  test('is one for all versions of a collection: remembered versions hold no text', async () => {
    const lists: WeakRef<ListText>[] = [];
    const versions = [Records.of<Item>([], idOf)];
    for (let id = 1n; id <= 200n; id += 1n) {
      const next = versions.at(-1)?.with({ id, text: 'a'.repeat(100) });
      if (next === undefined) continue;
      versions.push(next);
      lists.push(new WeakRef(listOf(next)), new WeakRef(listOf(next, FORM, 'page')));
    }
    // A WeakRef holds its target until the turn ends.
    await new Promise(setImmediate);
    collectGarbage();
    expect(versions.length).toBe(201);
    expect(lists.filter((list) => list.deref() !== undefined).length).toBeLessThan(10);
  });

  test('is not kept if it is longer than 8 MiB', () => {
    const records = Records.of([{ id: 1n, text: 'a'.repeat(8 * 1024 ** 2) }], idOf);
    const [first, second] = [listOf(records), listOf(records)];
    expect(first === second).toBe(false);
  });
});

/** Runs V8's collector, which `node --expose-gc` would show. */
function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
}
