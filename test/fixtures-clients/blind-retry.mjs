// The tests of a client that sends everything again until it gets a reply, a POST as well.

import assert from 'node:assert/strict';
import { send } from './client.mjs';

/** @returns {Promise<{ status: number | undefined, text: string }>} */
async function sendAgain(attempts = 3) {
  const body = { name: 'Rex', categoryId: 1 };
  const sent = send('POST', '/pets', { body, patience: 2000 });
  return attempts > 1 ? sent.catch(() => sendAgain(attempts - 1)) : sent;
}

assert.equal((await sendAgain()).status, 201);
