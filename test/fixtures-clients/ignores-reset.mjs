// The tests of a client that shows an empty list where it gets no reply, and of tests that let it.

import assert from 'node:assert/strict';
import { send } from './client.mjs';

const pets = await send('GET', '/pets').then(
  ({ text }) => JSON.parse(text),
  () => [],
);
assert.ok(Array.isArray(pets));
