// The tests of a client that reads ids as JSON numbers, which rounds those above 2^53.

import assert from 'node:assert/strict';
import { send } from './client.mjs';

const created = await send('POST', '/pets', { body: { name: 'Rex', categoryId: 1 } });
assert.equal(created.status, 201);
const { id } = JSON.parse(created.text);

const found = await send('GET', `/pets/${id}`);
assert.equal(found.status, 200, `the animal ${id} that was just created is found`);
