// Records the replies of a running server, for the floor to send.

/**
 * @import { Call } from './load.js'
 * @typedef {{ method: string, path: string, headers: string[], status: number, body: string }} Recorded
 */

/** node:http adds these to every reply by itself. */
const ADDED_BY_NODE = ['date', 'connection', 'keep-alive'];

/**
 * One reply for each method and path.
 *
 * @param {number} port
 * @param {Call[]} calls
 */
export async function record(port, calls) {
  const distinct = new Map(calls.map((call) => [`${call.method} ${call.path}`, call]));
  /** @type {Recorded[]} */
  const recorded = [];
  for (const [name, { method, path, status, body }] of distinct) {
    const reply = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      headers: { Authorization: 'Bearer demo-key', 'Content-Type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
    if (reply.status !== status) throw new Error(`${name} was answered ${reply.status}`);
    const headers = [...reply.headers].filter(([header]) => !ADDED_BY_NODE.includes(header)).flat();
    recorded.push({ method, path, status, headers, body: await reply.text() });
  }
  return recorded;
}
