import { CompletionContext } from '@codemirror/autocomplete';
import { EditorState } from '@codemirror/state';
import { expect, test } from 'vitest';
import { completeFrom } from '../../src/dashboard/editor/schema-completion.ts';

const value = (...names: string[]) => ({ enum: names });
const orders = { properties: { set: { items: { properties: { id: value('1') } } } } };
const rule = {
  properties: {
    on: { anyOf: [value('getPet', '*'), { items: value('listPets') }] },
    reply: { properties: { status: value('409') } },
    delay: { properties: { min: {} } },
  },
};
const complete = completeFrom({
  properties: {
    description: value('a text'),
    state: { anyOf: [value('empty'), { properties: { orders } }] },
    rules: { items: rule },
    keys: { properties: { valid: { items: value('demo-key') } } },
    assume: { additionalProperties: value('404') },
  },
});

test.each([
  ['', 'description: , state: , rules: , keys: , assume: '],
  ['description: ', 'a text'],
  ['state: ', 'empty'],
  ['state:\n  ', 'orders: , empty'],
  ['state:\n  orders:\n    ', 'set: '],
  ['state:\n  orders: { set: [{ ', 'id: '],
  ['state:\n  orders: { set: [{ id: ', '1'],
  ['state:\n  orders: { set: [{ id: 1 }], ', 'set: '],
  ['rules:\n- ', 'on: , reply: , delay: '],
  ['rules:\n- on: ', 'getPet, "*"'],
  ['rules:\n- on: getPet\n  ', 'on: , reply: , delay: '],
  ['rules:\n- on: getPet\n  reply:\n    ', 'status: '],
  ['rules:\n  - { on: [listPets, ', 'listPets'],
  ['rules:\n  - { on: "*", reply: { ', 'status: '],
  ['rules:\n  - { on: "a, b: {", ', 'on: , reply: , delay: '],
  ['rules:\n  # fault:\n\n  - { on: listPets, delay: { min: 1 }, ', 'on: , reply: , delay: '],
  ['keys: { valid: [a] }\nassume:\n  cancel-again: ', '404'],
  ['"rules": [{ "on": ', 'getPet, "*"'],
])('the editor completes %j with %s', (text, expected) => {
  const state = EditorState.create({ doc: text });
  const options = complete(new CompletionContext(state, text.length, true))?.options ?? [];
  expect(options.map(({ label, apply }) => apply ?? label).join(', ')).toBe(expected);
});
