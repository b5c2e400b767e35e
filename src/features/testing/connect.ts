/// <reference types="node" preserve="true" />
import { createClient } from '../../client/connect-client.ts';
import { createControlledMock } from '../../client/controlled-mock.ts';

/** A server and one of its sandboxes: the one in the URL, or the default one. */
export interface PetstoreMock extends Readonly<ReturnType<typeof createPetstoreMock>> {}

/** How to reach a running server. */
export interface ConnectOptions {
  /** The address of the server or of a sandbox, with or without `/v1` or `/__mock`. */
  readonly url: string;
  /** The token of the control API. It is needed if the server does not listen on loopback. */
  readonly token?: string | undefined;
  /** The server's certificate in PEM, unless this process trusts it already. */
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
  const mock = createPetstoreMock(options, async () => {});
  await mock.control.ping();
  // `health` needs no token, so make a call that does.
  await mock.clock.get();
  return mock;
}

export function createPetstoreMock(options: ConnectOptions, stop: () => Promise<void>) {
  const { key, ca } = options;
  return Object.assign(createControlledMock({ ...createClient(options), key }), {
    /** The certificate that clients have to trust, in PEM; undefined without `tls`. */
    ca,
    /** Stops the server if this mock started it. Any other keeps running. */
    stop,
    [Symbol.asyncDispose]: stop,
  });
}
