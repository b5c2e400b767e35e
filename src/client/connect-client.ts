import http from 'node:http';
import https from 'node:https';
import { Readable } from 'node:stream';
import { hostName, isLoopbackName } from '../core/contract/base-url.ts';
import { formatControlUrl, parseAddress } from '../core/contract/target.ts';
import { mayHaveContent } from '../core/raw-http.ts';
import { ControlClient, type Fetch } from './control-client.ts';
import { checkSandboxName } from './controlled-mock.ts';

interface ServerAddress {
  readonly url: string;
  readonly token?: string | undefined;
  readonly ca?: string | undefined;
}

/** @param url the address of a server or sandbox, with or without `/v1` or `/__mock` */
export function createClient({ url, token, ca }: ServerAddress, name?: string) {
  const { root, sandbox } = parseAddress(url);
  if (!/^https?:\/\/./.test(root)) {
    const expected = 'expected the address of a petstore-mock';
    throw new TypeError(`url: ${expected}, found ${JSON.stringify(url)}`);
  }
  checkSandboxName(sandbox);
  const fetch = createNodeFetch({ ca });
  const control = formatControlUrl({ root, sandbox });
  return { root, sandbox, client: new ControlClient({ url: control, token, fetch, name }) };
}

/** Read when this module loads, because nock and MSW replace these functions later. */
const REQUESTS = { 'http:': http.request, 'https:': https.request };

/** Which certificates to trust: those in a PEM text, or any. Without either, Node's defaults. */
type Trust = { readonly ca?: string | undefined } | { readonly rejectUnauthorized: false };

/**
 * A `fetch` for the control API. Node's own would send calls to this machine through a proxy if
 * NODE_USE_ENV_PROXY is set, refuses ports such as 6000, and trusts additional certificates only
 * from NODE_EXTRA_CA_CERTS, which it reads at the start of the process.
 */
export function createNodeFetch(trust: Trust = {}): Fetch {
  return (address, { method = 'GET', headers, body, signal }) =>
    new Promise((resolve, reject) => {
      const url = new URL(address);
      const request = REQUESTS[url.protocol === 'https:' ? 'https:' : 'http:'];
      const names = Object.fromEntries(new Headers(headers));
      // Node's default agent uses the proxies of the environment, so this call gets its own.
      const agent = isLoopbackName(hostName(url)) && { agent: false };
      const options = { ...trust, ...agent, method, headers: names, ...(signal && { signal }) };
      const outgoing = request(url, options, (reply) => {
        const { statusCode: status = 0, headers: received } = reply;
        const pairs = Object.entries(received).map(([name, value]) => [name, String(value)]);
        const content = mayHaveContent(status) ? Readable.toWeb(reply) : null;
        if (content === null) reply.resume();
        try {
          resolve(new Response(content, { status, headers: Object.fromEntries(pairs) }));
        } catch (error) {
          // A `Response` cannot have a status above 599.
          reply.destroy();
          reject(error);
        }
      });
      outgoing.on('error', reject).end(body);
    });
}
