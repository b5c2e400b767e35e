import { type IncomingHttpHeaders, request } from 'node:http';
import { parseJson, writeJson } from '../../src/contract/json.ts';

/** A reply as a client sees it. */
export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** Parsed exactly; undefined if it is not JSON. */
  readonly json: unknown;
}

interface Asked {
  readonly key?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object;
}

/** Sends a request to a path under the base and waits for its reply. */
export type Ask = (method: string, path: string, asked?: Asked) => Promise<Answer>;

/** A client of the service at a base path, with a connection for each request. */
export function asker(port: number, base = '/v1'): Ask {
  return (method, path, { key = 'demo-key', headers = {}, body } = {}) =>
    new Promise((resolve, reject) => {
      const sent = request(
        {
          port,
          host: '127.0.0.1',
          method,
          path: base + path,
          agent: false,
          headers: {
            ...(key === null ? {} : { Authorization: `Bearer ${key}` }),
            ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
            ...headers,
          },
        },
        (reply) => {
          const chunks: Buffer[] = [];
          reply.on('data', (chunk: Buffer) => chunks.push(chunk));
          reply.on('error', reject);
          reply.on('end', () => {
            const text = Buffer.concat(chunks).toString();
            resolve({
              status: reply.statusCode ?? 0,
              headers: reply.headers,
              text,
              json: jsonOf(text),
            });
          });
        },
      );
      sent.on('error', reject);
      sent.end(body === undefined ? undefined : writeJson(body));
    });
}

function jsonOf(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}
