import { test as base, type TestAPI } from 'vitest';
import { checkOptions } from '../check-options.ts';
import type { ServerOptions } from '../options.ts';
import type { PetstoreMock } from './connect.ts';
import { inSandbox, mockForTests } from './for-tests.ts';
import type { MockSandbox } from './mock-sandbox.ts';

export interface MockFixtures {
  /** A sandbox of this test alone. */
  readonly mock: MockSandbox;
  /** Its server: the one of `globalSetup`, else one per test file. */
  readonly petstoreMock: PetstoreMock;
}

/**
 * vitest's `test` with a sandbox for each test that uses `mock`. If the test fails, the exchanges of its
 * sandbox are printed.
 *
 * @param options of the server, unless PETSTORE_MOCK_URL already names one, as it does after
 *   `globalSetup` and under `petstore-mock exec`
 * @throws RangeError for a wrong option
 */
export function createTest(options: ServerOptions = {}): TestAPI<MockFixtures> {
  checkOptions(options);
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
      // vitest inverts the result of a test that is expected to fail only later.
      const failed = () => (task.result?.state === 'fail') !== (task.fails === true);
      await inSandbox(petstoreMock, task.name, use, failed);
    },
  });
}

export const test: TestAPI<MockFixtures> = createTest();
