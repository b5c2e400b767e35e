import { clientAt, type Received, type Sent } from './wire.ts';

/** A reply as a client sees it. */
export type Answer = Received;

/** Sends a request to a path under the base and waits for its reply. */
export type Ask = (method: string, path: string, sent?: Sent) => Promise<Answer>;

/** A client of the service at a base path, with a connection for each request. */
export function asker(port: number, base = '/v1'): Ask {
  const { send } = clientAt(port);
  return (method, path, sent) => send(method, base + path, sent);
}
