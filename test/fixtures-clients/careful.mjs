// The tests of a client that survives every single fault: it repeats what is safe to repeat, waits as
// long as it is told to, looks before it repeats a POST, and ignores members that it does not know.

import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { send } from './client.mjs';

const NO_REPLY = { status: 0, text: '', retryAfter: undefined };

/**
 * Sends a call until it succeeds.
 * @param {string} method
 * @param {string} path
 * @param {unknown} [body]
 * @param {() => Promise<unknown>} [lookUp] finds what a lost reply has said
 */
async function call(method, path, body, lookUp = async () => undefined) {
  for (let attempt = 1; attempt <= 3; attempt += 1) {
    const reply = await send(method, path, { body, patience: 2000 }).catch(() => NO_REPLY);
    if (`${reply.status}`.startsWith('2')) return JSON.parse(reply.text);
    const found = reply === NO_REPLY ? await lookUp() : undefined;
    if (found !== undefined) return found;
    // A timer can be a millisecond early.
    await sleep(Number(reply.retryAfter ?? 0) * 1020);
  }
  assert.fail(`${method} ${path} failed three times`);
}

const listPets = () => call('GET', '/pets?limit=100');
const known = new Set((await listPets()).map((/** @type {{ id: number }} */ { id }) => id));
const body = { name: 'Laika', categoryId: 1 };
const laika = await call('POST', '/pets', body, async () => {
  const pets = await listPets();
  return pets.find((/** @type {{ id: number }} */ { id }) => !known.has(id));
});
assert.equal(laika.name, 'Laika');
const stock = await call('PATCH', '/inventory/1', { quantity: 4 });
assert.equal(stock.quantity, 4);
const all = await call('GET', '/inventory');
assert.equal(all.find((/** @type {{ petId: number }} */ { petId }) => petId === 1).quantity, 4);
