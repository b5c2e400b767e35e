import { test as base, type TestAPI } from 'vitest';
import type { ServerOptions } from '../server.ts';
import type { PetstoreMock } from './connect.ts';
import { forgetSandbox, mockForTests, tellExchanges } from './for-tests.ts';
import type { MockSandbox } from './sandbox.ts';

export interface MockFixtures {
  /** A sandbox that only this test knows of. */
  readonly mock: MockSandbox;
  /** The server that it is in: one for each worker of the run. */
  readonly petstoreMock: PetstoreMock;
}

/**
 * The `test` of vitest, with a sandbox for each test that asks for `mock`. Where the test fails, the
 * exchanges of its sandbox are printed.
 *
 * @param options of the server, unless PETSTORE_MOCK_URL names one that runs already
 */
export function createTest(options: ServerOptions = {}): TestAPI<MockFixtures> {
  return base.extend<MockFixtures>({
    petstoreMock: [
      // biome-ignore lint/correctness/noEmptyPattern: vitest reads what a fixture needs from its pattern
      async ({}, use) => {
        const server = await mockForTests(options);
        await use(server);
        await server.stop();
      },
      { scope: 'worker' },
    ],
    mock: async ({ petstoreMock, task }, use) => {
      const sandbox = petstoreMock.sandbox();
      await use(sandbox);
      if (task.result?.state === 'fail') {
        // biome-ignore lint/suspicious/noConsole: what is printed so is shown with its test
        console.error(await tellExchanges(sandbox));
      }
      await forgetSandbox(petstoreMock, sandbox);
    },
  });
}

export const test: TestAPI<MockFixtures> = createTest();
