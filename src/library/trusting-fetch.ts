import type { IncomingMessage } from 'node:http';

/**
 * A `fetch` for a server whose certificate Node does not trust. Node's own takes no certificates but
 * those of NODE_EXTRA_CA_CERTS, which it reads when the process starts.
 *
 * @param ca in PEM
 */
export function fetchTrusting(ca: string): (url: string, init: RequestInit) => Promise<Response> {
  const { Agent, request } = process.getBuiltinModule('node:https');
  const agent = new Agent({ keepAlive: true, ca });
  return (url, { method = 'GET', headers, body }) =>
    new Promise((resolve, reject) => {
      const names = Object.fromEntries(new Headers(headers));
      const sent = request(url, { agent, method, headers: names }, (reply) => {
        responseOf(reply).then(resolve, reject);
      });
      sent.on('error', reject).end(body);
    });
}

async function responseOf(reply: IncomingMessage): Promise<Response> {
  const chunks: Buffer[] = [];
  for await (const chunk of reply) chunks.push(chunk);
  const { statusCode: status = 0, rawHeaders } = reply;
  const pairs = rawHeaders.flatMap((name, at): [string, string][] =>
    at % 2 === 0 ? [[name, rawHeaders[at + 1] ?? '']] : [],
  );
  return new Response(status === 204 ? null : Buffer.concat(chunks), { status, headers: pairs });
}
