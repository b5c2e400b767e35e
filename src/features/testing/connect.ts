/// <reference types="node" preserve="true" />

import { ControlClient, type QueryOf, type ReplyOf } from '../../client/control-client.ts';
import { createNodeFetch } from '../../client/node-fetch.ts';
import { parseAddress } from '../../core/contract/target.ts';
import { DEFAULT_SANDBOX, NAME_FORM, NAME_PATTERN, STAGING_SANDBOX } from '../../core/limits.ts';
import { STAGING_KEY } from '../../core/service/keyring.ts';
import { createSandbox, type MockSandbox } from './mock-sandbox.ts';

/** A server and one of its sandboxes: the default one unless the URL names another. */
export interface PetstoreMock extends MockSandbox, AsyncDisposable {
  /** The certificate that a client must trust, in PEM; undefined without `tls`. */
  readonly ca: string | undefined;
  /** Another sandbox, created at its first use. Without a name it gets a unique one. */
  sandbox(name?: string): MockSandbox;
  readonly sandboxes: {
    list(query?: QueryOf<'GET /sandboxes'>): Promise<ReplyOf<'GET /sandboxes'>>;
    /** Deletes a sandbox, or all that a query selects. The next use of a name creates a new one. */
    delete(which: string | QueryOf<'DELETE /sandboxes'>): Promise<void>;
  };
  /** Stops the server if this mock started it; any other keeps running. */
  stop(): Promise<void>;
}

export interface ConnectOptions {
  /** Any address of the server: with or without `/v1` or `/__mock`, of a sandbox or of none. */
  readonly url: string;
  /** The token of its control API, if it does not listen on loopback. */
  readonly token?: string | undefined;
  /** The certificate of a server under `tls`, in PEM, unless this process trusts it already. */
  readonly ca?: string | undefined;
  /** An API key that the server accepts; `demo-key` by default, `staging-key` for staging. */
  readonly key?: string | undefined;
}

/**
 * Controls a server that is already running, such as a service container.
 *
 * @throws Error if no server answers, ControlError if the token is missing or wrong
 * @example const mock = await connectPetstoreMock({ url: 'http://127.0.0.1:4010' });
 */
export async function connectPetstoreMock(options: ConnectOptions): Promise<PetstoreMock> {
  const mock = createMock(options, async () => {});
  await mock.control.ping();
  // Health needs no token, the clock does.
  await mock.clock.get();
  return mock;
}

export const DEMO_KEY = 'demo-key';

export function createClient({ url, token, ca }: Omit<ConnectOptions, 'key'>, name?: string) {
  const { root, sandbox } = parseAddress(url);
  if (!/^https?:\/\/./.test(root)) {
    const expected = 'expected the address of a petstore-mock';
    throw new TypeError(`url: ${expected}, found ${JSON.stringify(url)}`);
  }
  checkSandboxName(sandbox);
  const fetch = createNodeFetch(ca === undefined ? {} : { ca });
  const client = new ControlClient({ url: `${root}/__mock`, token, fetch, name });
  return { root, sandbox, client: client.sandbox(sandbox) };
}

export function createMock(options: ConnectOptions, stop: () => Promise<void>): PetstoreMock {
  const { key, ca } = options;
  const { root, sandbox: own, client } = createClient(options);
  const server = client.sandbox(DEFAULT_SANDBOX);
  const ofKey = (name: string): string =>
    name === STAGING_SANDBOX ? STAGING_KEY : (key ?? DEMO_KEY);
  const ownKey = key ?? ofKey(own);
  return {
    ...createSandbox(root, client, own, ownKey),
    sandbox: (name = crypto.randomUUID()) => {
      checkSandboxName(name);
      return createSandbox(root, client, name, name === own ? ownKey : ofKey(name));
    },
    sandboxes: {
      list: (query) => server.call('GET /sandboxes', { query }),
      delete: async (which) => {
        if (typeof which !== 'string') await server.call('DELETE /sandboxes', { query: which });
        else {
          checkSandboxName(which);
          await server.call('DELETE /sandboxes/{name}', { path: { name: which } });
        }
      },
    },
    ca,
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

function checkSandboxName(name: string): void {
  if (NAME_PATTERN.test(name)) return;
  throw new TypeError(`sandbox name: expected ${NAME_FORM}, found ${JSON.stringify(name)}`);
}
