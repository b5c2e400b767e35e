import { expect, test } from 'vitest';
import { parseJson } from '../../src/contract/json.ts';
import { storeText } from '../../src/store/file/store-text.ts';
import { generateStore } from '../../src/store/fixture/generate-store.ts';
import { parseFixture } from '../../src/store/fixture/parse-fixture.ts';
import { plainStore } from '../../src/store/fixture/plain-store.ts';
import { readStore } from '../../src/store/fixture/read-store.ts';
import { createStore, type StoreBase } from '../../src/store/store.ts';

const large = [
  ...storeText(createStore(await generateStore({ animals: 1500, orders: 1500, seed: 1 }))),
].join('');

const textOf = (base: StoreBase) => [...storeText(createStore(base))].join('');

test('a large store that is read fast is the one that is read with every check', () => {
  const fast = plainStore(large);
  const checked = readStore(parseJson(large));
  if (fast === undefined || !checked.ok) throw new Error('The store cannot be read.');
  expect(textOf(fast)).toBe(textOf(checked.value));
  for (const position of [0, 1499]) {
    const { petId, status } = fast.orders.at(position);
    expect(fast.orders.petIdAt?.(position)).toBe(petId);
    expect(fast.orders.statusAt?.(position)).toBe(status);
  }
});

test.each([
  ['an unknown member', '{"id":7,', '{"x":1,"id":7,'],
  ['a member of another type', '{"id":7,"name":', '{"id":7,"name":1,"name_":'],
  ['an id twice', '{"id":7,', '{"id":6,'],
  ['an animal that does not exist', '{"petId":7,', '{"petId":1507,'],
  ['a fraction', '{"id":7,', '{"id":7.5,'],
  ['a missing member', '"categoryId"', '"status"'],
  ['a collection of another name', '"orders"', '"order"'],
  ['broken JSON', '{"id":7,', '{"id":7,,'],
])('%s in a large store is left to the reader that reports it', (_, before, after) => {
  const text = large.replace(before, after);
  expect(text).not.toBe(large);
  expect(plainStore(text)).toBeUndefined();
});

test('ids beyond 2^53 and in any order are read exactly from a large store', () => {
  const id = 2n ** 63n - 1n;
  const text = large
    .replace('{"id":7,', `{"id":${id},`)
    .replace('{"petId":7,', '{"petId":8,')
    .replace('{"petId":8,', `{"petId":${id},`);
  const moved = text.replaceAll(/"petId":7([,}])/g, `"petId":${id}$1`);
  const { animals, inventory } = parseFixture('large.json', { ok: true, text: moved, pipe: false });
  expect(animals.get(id)?.id).toBe(id);
  expect(inventory.get(id)?.petId).toBe(id);
});
