import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Records } from '../../src/store/sorted-records.ts';

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

// Few ids, so that changes meet; the ends of int64 among them, and enough for several nodes.
const anId = fc.oneof(
  { weight: 9, arbitrary: fc.bigInt({ min: -4n, max: 12n }) },
  { weight: 3, arbitrary: fc.bigInt({ min: 13n, max: 300n }) },
  { weight: 1, arbitrary: fc.constantFrom(-(2n ** 63n), 2n ** 53n + 1n, 2n ** 63n - 1n) },
);
const anItem = fc.record({ id: anId, text: fc.string({ maxLength: 2 }) });
const someItems = fc.oneof(
  fc.array(anItem, { maxLength: 12 }),
  fc
    .integer({ min: 60, max: 140 })
    .map((size) => Array.from({ length: size }, (_, i) => ({ id: BigInt(i + 1), text: 'first' }))),
);

/** Changes of records beside what they should do, by name. */
const CHANGES: Readonly<Record<string, (pair: Pair, item: Item) => Pair>> = {
  with: ({ real, model }, item) => ({
    real: real.with(item),
    model: modelOf([...model.items, item], model.highest),
  }),
  grown: (pair, { text }) => {
    const from = pair.model.highest ?? 0n;
    if (from > 1000n) return pair;
    return Array.from({ length: 20 }, (_, at) => ({ id: from + 1n + BigInt(at), text })).reduce(
      ({ real, model }, item) => ({
        real: real.with(item),
        model: modelOf([...model.items, item], model.highest),
      }),
      pair,
    );
  },
  without: ({ real, model }, { id }) => ({
    real: real.without([id, id + 1n]),
    model: { ...model, items: model.items.filter((it) => it.id !== id && it.id !== id + 1n) },
  }),
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
  const { text } = real.list((item) => (item.text === 'first' ? undefined : `"${item.id}"`));
  const listed = items.filter((it) => it.text !== 'first').map(({ id }) => String(id));
  expect(JSON.parse(text.toString())).toEqual(listed);
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
      // Every one of them is reached from every other by the change between them.
      for (const { real: before } of pairs) {
        for (const { real, model } of pairs) {
          const change = before.changeTo(real);
          const after = change === undefined ? before : before.apply(change);
          expectSame({ real: after, model }, probe);
          expect(after.changeTo(real)).toBeUndefined();
        }
      }
    },
  );
  fc.assert(property, { numRuns: 60 });
});

test('the change between records names only what differs', () => {
  const items = Array.from({ length: 1000 }, (_, id) => ({ id: BigInt(id), text: '' }));
  const before = Records.of(items, idOf);
  const changed = { id: 5n, text: 'changed' };
  const added = { id: 2000n, text: 'added' };
  const after = before.with(changed).without([7n]).with(added);
  const change = before.changeTo(after);
  expect(change).toMatchObject({ remove: [7n], highestId: 2000n });
  expect(new Set(change?.set)).toEqual(new Set([changed, added]));
});

test('a list and a page are written once, and anew for changed records', () => {
  const records = Records.of([{ id: 1n, text: 'a' }], idOf);
  const write = ({ text }: Item): string => JSON.stringify(text);
  expect(records.list(write)).toBe(records.list(write));
  expect(records.with({ id: 2n, text: 'b' }).list(write).text).toBe('["a","b"]');
  const make = () => ({ text: '[]', records: [], next: undefined, total: undefined });
  expect(records.page(write, 'first', make)).toBe(records.page(write, 'first', make));
});
