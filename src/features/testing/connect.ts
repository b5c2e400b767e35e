/// <reference types="node" preserve="true" />
import { checkSandboxName, createClient } from '../../client/connect-client.ts';
import type { QueryOf } from '../../client/control-client.ts';
import { createSandbox, type MockSandbox } from '../../client/mock-sandbox.ts';
import { DEFAULT_SANDBOX, STAGING_SANDBOX } from '../../core/limits.ts';
import { STAGING_KEY } from '../../core/service/keyring.ts';

/** A server and one of its sandboxes: the default one unless the URL names another. */
export interface PetstoreMock extends Readonly<ReturnType<typeof createMock>> {}

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

export function createMock(options: ConnectOptions, stop: () => Promise<void>) {
  const { key, ca } = options;
  const { root, sandbox: own, client } = createClient(options);
  const server = client.sandbox(DEFAULT_SANDBOX);
  const open = (name: string): MockSandbox => {
    // The key that was given is one of the sandbox that the address names.
    const isStaging = name === STAGING_SANDBOX && (key === undefined || name !== own);
    return createSandbox(root, client, name, isStaging ? STAGING_KEY : (key ?? DEMO_KEY));
  };
  return Object.assign(open(own), {
    /** The certificate that a client must trust, in PEM; undefined without `tls`. */
    ca,
    /** Another sandbox, created at its first use. Without a name it gets a unique one. */
    sandbox: (name: string = crypto.randomUUID()) => {
      checkSandboxName(name);
      return open(name);
    },
    sandboxes: {
      list: (query?: QueryOf<'GET /sandboxes'>) => server.call('GET /sandboxes', { query }),
      /** Deletes a sandbox, or all that a query selects. The next use of a name creates a new one. */
      delete: async (which: string | QueryOf<'DELETE /sandboxes'>): Promise<void> => {
        if (typeof which !== 'string') await server.call('DELETE /sandboxes', { query: which });
        else {
          checkSandboxName(which);
          await server.call('DELETE /sandboxes/{name}', { path: { name: which } });
        }
      },
    },
    /** Stops the server if this mock started it; any other keeps running. */
    stop,
    [Symbol.asyncDispose]: stop,
  });
}
