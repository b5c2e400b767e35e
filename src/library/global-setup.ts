import type { ServerOptions } from '../server.ts';
import type { ConnectOptions } from './connect.ts';
import { startControlled } from './start-mock.ts';

const { env } = process;

/** The server of this test run, if the environment names one, as `petstore-mock exec` does too. */
export function serverOfRun(): ConnectOptions | undefined {
  const {
    PETSTORE_MOCK_URL: url,
    PETSTORE_MOCK_KEY: key,
    PETSTORE_MOCK_CONTROL_TOKEN: token,
  } = env;
  return url ? { url, key: key || undefined, token: token || undefined } : undefined;
}

/**
 * One server for all workers of a test run, for the global setup of vitest or Playwright. The fixtures
 * use it, and so can anything that reads `PETSTORE_MOCK_URL`, `PETSTORE_MOCK_KEY`,
 * `PETSTORE_MOCK_CONTROL_URL` and `PETSTORE_MOCK_CONTROL_TOKEN`. If these already name a server, as
 * under `petstore-mock exec`, that one is used.
 *
 * @returns a function that starts the server, and returns one that stops it
 * @example export default globalSetup({ scenarios: ['slow'] });
 */
export function globalSetup(options: ServerOptions = {}): () => Promise<() => Promise<void>> {
  return async () => {
    if (serverOfRun() !== undefined) return async () => {};
    const { server, key } = await startControlled(options);
    const restore = setVariables({
      PETSTORE_MOCK_URL: server.url,
      PETSTORE_MOCK_KEY: key,
      PETSTORE_MOCK_CONTROL_URL: new URL('/__mock', server.url).href,
      PETSTORE_MOCK_CONTROL_TOKEN: server.controlToken,
    });
    return async () => {
      restore();
      await server.close();
    };
  };
}

/**
 * Sets variables for this process and those that it starts from now on.
 *
 * @returns a function that undoes it
 */
function setVariables(variables: Readonly<Record<string, string | undefined>>): () => void {
  const before = Object.keys(variables).map((name) => [name, env[name] || undefined] as const);
  for (const [name, value] of Object.entries(variables)) {
    if (value === undefined) delete env[name];
    else env[name] = value;
  }
  return () => {
    setVariables(Object.fromEntries(before));
  };
}
