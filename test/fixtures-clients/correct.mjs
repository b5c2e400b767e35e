// The tests of a client that relies on nothing but what the document says. They are shown every
// documented reply, some of them again and again, and make more than ten calls a second.

import assert from 'node:assert/strict';
import { send } from './client.mjs';

/**
 * The first id in a text of JSON, with every digit.
 * @param {string} text
 * @param {string} name
 */
function firstId(text, name) {
  return new RegExp(`"${name}":\\s*(-?\\d+)`).exec(text)?.[1] ?? assert.fail(`no ${name}: ${text}`);
}

/**
 * @param {string} text
 * @param {number} status
 */
function assertError(text, status) {
  const error = JSON.parse(text);
  assert.deepEqual([typeof error.code, typeof error.message], ['string', 'string']);
  assert.equal(error.status, status);
}

// Whatever else a call says, without a key it is refused.
for (const [method, path] of [
  ['GET', '/pets'],
  ['POST', '/pets'],
  ['GET', '/pets/1'],
  ['GET', '/inventory'],
  ['PATCH', '/inventory/1'],
  ['GET', '/store/orders'],
  ['DELETE', '/store/orders/1'],
]) {
  for (const key of [undefined, 'wrong']) {
    const { status, text } = await send(`${method}`, `${path}`, { key });
    assert.equal(status, 401);
    assertError(text, 401);
  }
}

const pages = await Promise.all([1, 2, 3].map((limit) => send('GET', `/pets?limit=${limit}`)));
assert.deepEqual(
  pages.map(({ status }) => status),
  [200, 200, 200],
);
const created = await send('POST', '/pets', { body: { name: 'Rex', categoryId: 1 } });
assert.equal(created.status, 201);
const id = firstId(created.text, 'id');
assert.equal(firstId((await send('GET', `/pets/${id}`)).text, 'id'), id);

const petId = firstId((await send('GET', '/inventory')).text, 'petId');
const updated = await send('PATCH', `/inventory/${petId}`, { body: { quantity: 4 } });
assert.equal(updated.status, 200);

const order = `/store/orders/${firstId((await send('GET', '/store/orders')).text, 'id')}`;
assert.equal((await send('DELETE', order)).status, 204);
for (const round of ['first', 'second']) {
  const unknown = await send('DELETE', '/store/orders/99999');
  assert.equal(unknown.status, 404, round);
  assertError(unknown.text, 404);
  // What a 409 carries is not documented.
  assert.equal((await send('DELETE', '/store/orders/2')).status, 409, round);
}
