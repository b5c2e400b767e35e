import { readFileSync } from 'node:fs';
import { findWorkingKey, MOCK_VARIABLES, mockVariables } from '../../client/mock-variables.ts';
import { joinWords } from '../../core/words.ts';
import type { ServerOptions } from '../../server/options.ts';
import { checkOptions } from '../../server/options.ts';
import { type RunningServer, startServer } from '../../server/server.ts';
import { type ConnectOptions, createMock, DEMO_KEY, type PetstoreMock } from './connect.ts';

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
  const { server, key } = await startWithKey(options);
  let stopped: Promise<void> | undefined;
  const stop = () => (stopped ??= server.close());
  const { url, controlToken: token, certificate: ca } = server;
  return createMock({ url, token, key, ca }, stop);
}

async function startWithKey(
  options: ServerOptions,
): Promise<{ readonly server: RunningServer; readonly key: string }> {
  const { noControl, ...others } = options;
  if (noControl)
    throw new TypeError('noControl: a mock without its control API cannot be controlled');
  const server = await startServer({ port: 0, ...others });
  return { server, key: findKey(options) };
}

export function findKey({ keys = {} }: ServerOptions): string {
  return findWorkingKey(keys) ?? DEMO_KEY;
}

const { env } = process;

/** The server of this test run, if the environment names one, as under `petstore-mock exec`. */
export function findServerOfRun(): ConnectOptions | undefined {
  const [url, key, token, file] = (['url', 'key', 'controlToken', 'ca'] as const).map(
    (name) => env[MOCK_VARIABLES[name]] || undefined,
  );
  if (url === undefined) return undefined;
  return { url, key, token, ca: file && readFileSync(file, 'utf8') };
}

export function listGivenOptions(options: ServerOptions): string[] {
  return Object.entries(options).flatMap(([name, value]) => (value === undefined ? [] : name));
}

/** @throws RangeError if there are options that a running server cannot take any more */
export function refuseOptions(names: readonly string[], url: string): void {
  if (names.length === 0) return;
  const what = joinWords(names, 'and');
  throw new RangeError(
    `${what}: the server at ${url} is already running; set this where it starts, in globalSetup() or in the flags of petstore-mock`,
  );
}

/**
 * One server for all workers of a test run, for the global setup of vitest or Playwright. The fixtures
 * use it, and so can anything that reads `PETSTORE_MOCK_URL`, `PETSTORE_MOCK_KEY`,
 * `PETSTORE_MOCK_CONTROL_URL`, `PETSTORE_MOCK_CONTROL_TOKEN` and `PETSTORE_MOCK_CA`. If these
 * already name a server, as under `petstore-mock exec`, that one is used.
 *
 * @throws RangeError for a wrong option, or for any option if a server is already running
 * @returns a function that starts the server, and returns one that stops it
 * @example export default globalSetup({ scenarios: ['slow'] });
 */
export function globalSetup(options: ServerOptions = {}): () => Promise<() => Promise<void>> {
  checkOptions(options);
  return async () => {
    const running = findServerOfRun();
    if (running !== undefined) {
      refuseOptions(listGivenOptions(options), running.url);
      return async () => {};
    }
    const { server, key } = await startWithKey(options);
    const variables = mockVariables(server, key, env);
    const names = Object.keys(variables);
    const before = Object.fromEntries(names.map((name) => [name, env[name] || undefined]));
    setVariables(variables);
    return async () => {
      setVariables(before);
      await server.close();
    };
  };
}

function setVariables(variables: Readonly<Record<string, string | undefined>>): void {
  for (const [name, value] of Object.entries(variables)) {
    if (value === undefined) delete env[name];
    else env[name] = value;
  }
}
