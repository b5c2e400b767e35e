// The tests of a client that relies on nothing but what the document says.

import assert from 'node:assert/strict';
import { send } from './client.mjs';

/**
 * The first id in a text of JSON, with every digit.
 * @param {string} text
 * @param {string} name
 */
function firstId(text, name) {
  return new RegExp(`"${name}":(-?\\d+)`).exec(text)?.[1] ?? assert.fail(`no ${name} in ${text}`);
}

assert.equal((await send('GET', '/pets?limit=3')).status, 200);
assert.equal((await send('GET', '/pets', undefined, 'wrong')).status, 401);
assert.equal((await send('POST', '/pets', { name: 'Rex', categoryId: 1 })).status, 201);

const petId = firstId((await send('GET', '/inventory')).text, 'petId');
assert.equal((await send('PATCH', `/inventory/${petId}`, { quantity: 4 })).status, 200);

const order = `/store/orders/${firstId((await send('GET', '/store/orders')).text, 'id')}`;
assert.ok([204, 404, 409].includes((await send('DELETE', order)).status));
// What a 409 carries is not documented.
assert.equal((await send('DELETE', '/store/orders/2')).status, 409);
