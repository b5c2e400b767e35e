/// <reference types="node" preserve="true" />

import type { SandboxSummary } from '../control/control-shapes.ts';
import { parseAddress } from '../http/target.ts';
import { NAME_FORM, NAME_PATTERN } from '../limits.ts';
import { STAGING_SANDBOX } from '../sandbox/sandbox-names.ts';
import { STAGING_KEY } from '../service/keyring.ts';
import { ControlClient, fetchTrusting, searchOf } from './control-client.ts';
import { type MockSandbox, sandboxAt } from './mock-sandbox.ts';
import type { RecordQuery } from './record-control.ts';

/** A server and one of its sandboxes: the default one unless the URL names another. */
export interface PetstoreMock extends MockSandbox, AsyncDisposable {
  /** The certificate that a client must trust, in PEM; undefined without `tls`. */
  readonly ca: string | undefined;
  /** Another sandbox, created at its first use. Without a name it gets a unique one. */
  sandbox(name?: string): MockSandbox;
  readonly sandboxes: {
    list(query?: RecordQuery<SandboxSummary>): Promise<readonly SandboxSummary[]>;
    /** Deletes a sandbox, or all that a query selects. The next use of a name creates a new one. */
    delete(which: string | RecordQuery<SandboxSummary>): Promise<void>;
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
  const mock = mockAt(options, async () => {});
  await mock.clock.get();
  return mock;
}

export const DEMO_KEY = 'demo-key';

/** The server that an address belongs to, the sandbox it names, and a client of the server's control API. */
export function clientOf({ url, token, ca }: Omit<ConnectOptions, 'key'>, caller?: string) {
  const { root, sandbox: name } = parseAddress(url);
  if (!/^https?:\/\/./.test(root))
    throw new TypeError(
      `url: expected the address of a petstore-mock, found ${JSON.stringify(url)}`,
    );
  checkSandboxName(name);
  const send = ca === undefined ? undefined : fetchTrusting(ca);
  return { root, name, client: new ControlClient(`${root}/__mock`, token, send, caller) };
}

export function mockAt(options: ConnectOptions, stop: () => Promise<void>): PetstoreMock {
  const { key, ca } = options;
  const { root, name: own, client } = clientOf(options);
  const ofKey = (name: string): string =>
    name === STAGING_SANDBOX ? STAGING_KEY : (key ?? DEMO_KEY);
  const ownKey = key ?? ofKey(own);
  return {
    ...sandboxAt(root, client, own, ownKey),
    sandbox: (name = crypto.randomUUID()) => {
      checkSandboxName(name);
      return sandboxAt(root, client, name, name === own ? ownKey : ofKey(name));
    },
    sandboxes: {
      list: (query = {}) => client.call('GET', `/sandboxes${searchOf(query)}`),
      delete: async (which) => {
        if (typeof which === 'string') checkSandboxName(which);
        const selected = typeof which === 'string' ? `/${which}` : searchOf(which);
        await client.call('DELETE', `/sandboxes${selected}`);
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
