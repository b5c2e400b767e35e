import type { ServerOptions } from '../server.ts';
import { serverOfRun, tellRun } from './run-environment.ts';
import { startControlled } from './start-mock.ts';

/**
 * One server for all workers of a test run. This is what the global setup of vitest or of Playwright
 * exports: the fixtures find the server, and so does whatever reads `PETSTORE_MOCK_URL`,
 * `PETSTORE_MOCK_KEY`, `PETSTORE_MOCK_CONTROL_URL` and `PETSTORE_MOCK_CONTROL_TOKEN`. Where they name
 * a server that runs already, as under `petstore-mock exec`, it stays with that one.
 *
 * @returns starts the server, and returns what stops it
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
