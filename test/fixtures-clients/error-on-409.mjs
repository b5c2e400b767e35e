// The tests of a client that takes for granted that a 409 carries an Error.

import assert from 'node:assert/strict';
import { send } from './client.mjs';

assert.equal((await send('GET', '/store/orders')).status, 200);
assert.equal((await send('DELETE', '/store/orders/1')).status, 204);
assert.equal((await send('DELETE', '/store/orders/99999')).status, 404);

const conflict = await send('DELETE', '/store/orders/2');
assert.equal(conflict.status, 409);
const error = JSON.parse(conflict.text);
assert.equal(typeof error.message, 'string', 'the Error of a conflict has a message');
