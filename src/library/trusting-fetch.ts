import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';

/**
 * A `fetch` for a server whose certificate Node does not trust. Node's own takes no certificates but
 * those of NODE_EXTRA_CA_CERTS, which it reads when the process starts.
 *
 * @param ca in PEM
 */
export function fetchTrusting(ca: string): (url: string, init: RequestInit) => Promise<Response> {
  const { Agent, request } = process.getBuiltinModule('node:https');
  const agent = new Agent({ keepAlive: true, ca });
  return (url, { method = 'GET', headers, body, signal }) =>
    new Promise((resolve, reject) => {
      const names = Object.fromEntries(new Headers(headers));
      const aborted = signal instanceof AbortSignal ? { signal } : {};
      const options = { agent, method, headers: names, ...aborted };
      const sent = request(url, options, (reply) => resolve(responseOf(reply)));
      sent.on('error', reject).end(body);
    });
}

function responseOf(reply: IncomingMessage): Response {
  const { statusCode: status = 0, rawHeaders } = reply;
  const pairs = rawHeaders.flatMap((name, at): [string, string][] =>
    at % 2 === 0 ? [[name, rawHeaders[at + 1] ?? '']] : [],
  );
  const body = status === 204 ? null : Readable.toWeb(reply);
  return new Response(body, { status, headers: pairs });
}
