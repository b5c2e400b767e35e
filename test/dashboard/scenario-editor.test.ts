import { describe, expect, test } from 'vitest';
import { contextAfter } from '../../src/dashboard/editor/text-context.ts';

/** What is written where, as `path > key`; `[]` is an element of a list. */
function written(text: string): string {
  const { path, key } = contextAfter(text);
  return [...path.map((step) => step ?? '[]'), ...(key === undefined ? [] : [`${key}:`])].join(' ');
}

describe('the editor knows that', () => {
  test.each([
    ['', ''],
    ['des', ''],
    ['description: ', 'description:'],
    ['state:\n  ', 'state'],
    ['state:\n  orders:\n    ', 'state orders'],
    ['state:\n  orders:\n  ', 'state'],
    ['state:\n  orders: { set: [{ ', 'state orders set []'],
    ['state:\n  orders: { set: [{ id: ', 'state orders set [] id:'],
    ['state:\n  orders: { set: [{ id: 1 }], ', 'state orders'],
    ['rules:\n  - ', 'rules []'],
    ['rules:\n- ', 'rules []'],
    ['rules:\n- on: ', 'rules [] on:'],
    ['rules:\n- on: getPet\n  ', 'rules []'],
    ['rules:\n- on: getPet\n  reply:\n    ', 'rules [] reply'],
    ['rules:\n- on: getPet\n- ', 'rules []'],
    ['rules:\n  - { on: ', 'rules [] on:'],
    ['rules:\n  - { on: [listPets, ', 'rules [] on []'],
    ['rules:\n  - { on: "*", reply: { ', 'rules [] reply'],
    ['rules:\n  - { on: "a, b: {", ', 'rules []'],
    ['rules:\n  # fault:\n\n  - { on: listPets, delay: { min: 1 }, ', 'rules []'],
    ['keys:\n  valid:\n    - a\nassume: { ', 'assume'],
    ['keys: { valid: [a] }\nassume:\n  cancel-again: ', 'assume cancel-again:'],
    ['"rules": [{ "on": ', 'rules [] on:'],
  ])('%j is followed by %s', (text, expected) => {
    expect(written(text)).toBe(expected);
  });
});
