import { Readable } from 'node:stream';
import type { Fetch } from './control-client.ts';

/**
 * A `fetch` for a server whose certificate Node does not trust. Node's own takes no certificates but
 * those of NODE_EXTRA_CA_CERTS, which it reads when the process starts.
 *
 * @param ca in PEM; without one, every certificate is trusted
 */
export function createTrustingFetch(ca?: string): Fetch {
  const { Agent, request } = process.getBuiltinModule('node:https');
  const agent = new Agent({ keepAlive: true, ca, rejectUnauthorized: ca !== undefined });
  return (url, { method = 'GET', headers, body, signal }) =>
    new Promise((resolve, reject) => {
      const names = Object.fromEntries(new Headers(headers));
      const options = { agent, method, headers: names, ...(signal && { signal }) };
      const outgoing = request(url, options, (reply) => {
        const { statusCode: status = 0, headers: received } = reply;
        const pairs = Object.entries(received).map(([name, value]) => [name, String(value)]);
        const content = status === 204 ? null : Readable.toWeb(reply);
        resolve(new Response(content, { status, headers: Object.fromEntries(pairs) }));
      });
      outgoing.on('error', reject).end(body);
    });
}
