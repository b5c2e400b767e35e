// Records the replies of a running server, for the floor to send.

import { request } from 'node:http';

/** @typedef {{ method: string, path: string, status: number, headers: string[], body: string }} Recorded */

/** node:http adds these to every reply by itself. */
const ADDED_BY_NODE = ['date', 'connection', 'keep-alive'];

/**
 * One reply for each method and path.
 *
 * @param {number} port
 * @param {import('./load.js').Call[]} calls
 */
export async function record(port, calls) {
  const distinct = new Map(calls.map((call) => [`${call.method} ${call.path}`, call]));
  const recorded = [];
  for (const call of distinct.values()) recorded.push(await recordOne(port, call));
  return recorded;
}

/**
 * @param {number} port
 * @param {import('./load.js').Call} call
 * @returns {Promise<Recorded>}
 */
function recordOne(port, { method, path, status, body }) {
  return new Promise((resolve, reject) => {
    const headers = { Authorization: 'Bearer demo-key', 'Content-Type': 'application/json' };
    const sent = request({ port, host: '127.0.0.1', method, path, headers }, async (reply) => {
      let text = '';
      for await (const chunk of reply.setEncoding('utf8')) text += chunk;
      if (reply.statusCode !== status) {
        reject(new Error(`${method} ${path} was answered ${reply.statusCode}: ${text}`));
      }
      resolve({ method, path, status, headers: ownHeaders(reply.rawHeaders), body: text });
    });
    sent.on('error', reject);
    sent.end(body && JSON.stringify(body));
  });
}

/** @param {string[]} raw names and values in turn */
function ownHeaders(raw) {
  return raw.filter((_, i) => !ADDED_BY_NODE.includes(raw[i - (i % 2)]?.toLowerCase() ?? ''));
}
