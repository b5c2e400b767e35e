// The tests of a client that refuses a record with a member that it does not know.

import assert from 'node:assert/strict';
import { send } from './client.mjs';

const FIELDS = new Set(['id', 'name', 'categoryId', 'status']);

const { text } = await send('GET', '/pets');
for (const pet of JSON.parse(text)) {
  for (const name of Object.keys(pet)) assert.ok(FIELDS.has(name), `unknown field ${name}`);
}
