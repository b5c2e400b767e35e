import { test as base, type TestAPI } from 'vitest';
import type { ServerOptions } from '../server.ts';
import type { PetstoreMock } from './connect.ts';
import { forgetSandbox, mockForTests, openSandbox, tellExchanges } from './for-tests.ts';
import type { MockSandbox } from './mock-sandbox.ts';

export interface MockFixtures {
  /** A sandbox that only this test knows of. */
  readonly mock: MockSandbox;
  /** The server that it is in: that of `globalSetup`, else one for each test file. */
  readonly petstoreMock: PetstoreMock;
}

/**
 * The `test` of vitest, with a sandbox for each test that asks for `mock`. Where the test fails, the
 * exchanges of its sandbox are printed.
 *
 * @param options of the server, unless one runs already: that of `globalSetup` or of
 *   `petstore-mock exec`, or another that PETSTORE_MOCK_URL names
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
      const sandbox = await openSandbox(petstoreMock);
      await use(sandbox);
      // A test that is meant to fail fails where it passes; its result is turned round later.
      if ((task.result?.state === 'fail') !== (task.fails === true)) {
        // biome-ignore lint/suspicious/noConsole: what is printed so is shown with its test
        console.error(await tellExchanges(sandbox, task.name));
      }
      await forgetSandbox(petstoreMock, sandbox);
    },
  });
}

export const test: TestAPI<MockFixtures> = createTest();
