import type { ServerOptions } from '../server.ts';
import { serverOfRun, tellRun } from './run-environment.ts';
import { startControlled } from './start-mock.ts';

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
    const { url, controlToken: token } = server;
    const takeBack = tellRun({ url, key, token, controlUrl: new URL('/__mock', url).href });
    return async () => {
      takeBack();
      await server.close();
    };
  };
}
