import { readFileSync } from 'node:fs';
import { MOCK_VARIABLES, mockVariables } from '../../client/mock-variables.ts';
import { FEATURES, type ServerOptions } from '../../features.ts';
import { checkOptions } from '../../server/options.ts';
import { type RunningServer, startServerWith } from '../../server/server.ts';
import {
  type ConnectOptions,
  connectPetstoreMock,
  createPetstoreMock,
  type PetstoreMock,
} from './connect.ts';
import { findKey, openSandboxWith, refuseServerOptions } from './test-options.ts';

/**
 * Starts a server in this process, on a free port by default, and controls it.
 *
 * @throws the errors of `startServerWith`
 * @example
 * await using mock = await startPetstoreMock();
 * await mock.scenario.use('shipped-orders');
 * const client = new PetstoreClient(mock.url, mock.key);
 */
export async function startPetstoreMock(options: ServerOptions = {}): Promise<PetstoreMock> {
  const { server, key } = await startWithKey(options);
  let stopped: Promise<void> | undefined;
  const stop = () => (stopped ??= server.close());
  const { url, controlToken: token, certificate: ca } = server;
  return createPetstoreMock({ url, token, key, ca }, stop);
}

async function startWithKey(
  options: ServerOptions,
): Promise<{ readonly server: RunningServer; readonly key: string }> {
  const { noControl, ...others } = options;
  if (noControl)
    throw new TypeError('noControl: a mock without its control API cannot be controlled');
  const server = await startServerWith(FEATURES, { port: 0, ...others });
  return { server, key: findKey(options) };
}

const { env } = process;

/** The server that the environment names, as under `petstore-mock exec`, if there is one. */
export function findServerOfRun(): ConnectOptions | undefined {
  const [url, key, token, file] = (['url', 'key', 'controlToken', 'ca'] as const).map(
    (name) => env[MOCK_VARIABLES[name]] || undefined,
  );
  if (url === undefined) return undefined;
  return { url, key, token, ca: file && readFileSync(file, 'utf8') };
}

/**
 * Starts one server for all workers of a test run, as the global setup of vitest or Playwright. The
 * fixtures use it, and so can anything that reads `PETSTORE_MOCK_URL`, `PETSTORE_MOCK_KEY`,
 * `PETSTORE_MOCK_CONTROL_URL`, `PETSTORE_MOCK_CONTROL_TOKEN` and `PETSTORE_MOCK_CA`. If these
 * already name a server, as under `petstore-mock exec`, uses a sandbox of that with the options.
 *
 * @throws RangeError for a wrong option, or for one that a running server cannot take
 * @returns a function that starts the server, and returns one that stops it
 * @example export default globalSetup({ scenarios: ['slow'] });
 */
export function globalSetup(options: ServerOptions = {}): () => Promise<() => Promise<void>> {
  checkOptions(options, FEATURES);
  return async () => {
    const running = findServerOfRun();
    if (running !== undefined) return shareRunning(running, options);
    const { server, key } = await startWithKey(options);
    const restore = setVariables(mockVariables(server, key, env));
    return async () => {
      restore();
      await server.close();
    };
  };
}

/** Points the run at a new sandbox with the options. The sandboxes of its tests copy it. */
async function shareRunning(running: ConnectOptions, options: ServerOptions) {
  if (Object.values(options).every((value) => value === undefined)) return async () => {};
  refuseServerOptions(options, running.url);
  const server = await connectPetstoreMock(running);
  const { name, url, controlUrl, key } = await openSandboxWith(server, options);
  const { url: base, controlUrl: control, key: named } = MOCK_VARIABLES;
  const restore = setVariables({ [base]: url, [control]: controlUrl, [named]: key });
  return async () => {
    restore();
    await server.sandboxes.delete(name);
  };
}

/** @returns a function that restores the earlier values */
function setVariables(variables: Readonly<Record<string, string | undefined>>): () => void {
  const before = Object.keys(variables).map((name) => [name, env[name] || undefined] as const);
  for (const [name, value] of Object.entries(variables)) {
    if (value === undefined) delete env[name];
    else env[name] = value;
  }
  return () => void setVariables(Object.fromEntries(before));
}
