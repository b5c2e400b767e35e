import { type RunningServer, type ServerOptions, startServer } from '../server.ts';
import { DEMO_KEY, mockAt, type PetstoreMock } from './connect.ts';
import { workingKey } from './mock-variables.ts';

/**
 * Starts a server in this process, on any free port by default, and controls it.
 *
 * @throws what `startServer` throws
 * @example
 * await using mock = await startPetstoreMock();
 * await mock.scenario.use('shipped-orders');
 * const client = new PetstoreClient(mock.url, mock.key);
 */
export async function startPetstoreMock(options: ServerOptions = {}): Promise<PetstoreMock> {
  const { server, key } = await startControlled(options);
  let stopped: Promise<void> | undefined;
  const stop = () => (stopped ??= server.close());
  const { url, controlToken: token, certificate: ca } = server;
  return mockAt({ url, token, key, ca }, stop);
}

/** Starts a server that can be controlled, and returns it with a key that it accepts. */
export async function startControlled(
  options: ServerOptions,
): Promise<{ readonly server: RunningServer; readonly key: string }> {
  const { noControl, ...others } = options;
  if (noControl)
    throw new TypeError('noControl: a mock without its control API cannot be controlled');
  const server = await startServer({ port: 0, ...others });
  return { server, key: workingKey(options.keys ?? {}) ?? DEMO_KEY };
}
