import { readFileSync } from 'node:fs';
import type { ServerOptions } from '../server.ts';
import type { ConnectOptions } from './connect.ts';
import { MOCK_VARIABLES, mockVariables } from './mock-variables.ts';
import { startControlled } from './start-mock.ts';

const { env } = process;

/** The server of this test run, if the environment names one, as under `petstore-mock exec`. */
export function serverOfRun(): ConnectOptions | undefined {
  const [url, key, token, file] = (['url', 'key', 'controlToken', 'ca'] as const).map(
    (name) => env[MOCK_VARIABLES[name]] || undefined,
  );
  if (url === undefined) return undefined;
  return { url, key, token, ca: file && readFileSync(file, 'utf8') };
}

/**
 * One server for all workers of a test run, for the global setup of vitest or Playwright. The fixtures
 * use it, and so can anything that reads `PETSTORE_MOCK_URL`, `PETSTORE_MOCK_KEY`,
 * `PETSTORE_MOCK_CONTROL_URL`, `PETSTORE_MOCK_CONTROL_TOKEN` and `PETSTORE_MOCK_CA`. If these
 * already name a server, as under `petstore-mock exec`, that one is used.
 *
 * @returns a function that starts the server, and returns one that stops it
 * @example export default globalSetup({ scenarios: ['slow'] });
 */
export function globalSetup(options: ServerOptions = {}): () => Promise<() => Promise<void>> {
  return async () => {
    if (serverOfRun() !== undefined) return async () => {};
    const { server, key } = await startControlled(options);
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

/** Sets variables for this process and those that it starts from now on. */
function setVariables(variables: Readonly<Record<string, string | undefined>>): void {
  for (const [name, value] of Object.entries(variables)) {
    if (value === undefined) delete env[name];
    else env[name] = value;
  }
}
