import { test as base, expect, type TestAPI } from 'vitest';
import type { MockSandbox } from '../../client/mock-sandbox.ts';
import { requireVersion } from '../../server/require-version.ts';
import type { PetstoreMock } from './connect.ts';
import { installedVersion } from './installed-version.ts';
import {
  checkTestOptions,
  openTestMock,
  type TestOptions,
  withTestSandbox,
} from './test-sandbox.ts';
import { type MockMatchers, toHaveReceived } from './to-have-received.ts';

requireVersion('vitest', installedVersion('vitest'));

export type { TestFailure, TestOptions } from './test-sandbox.ts';
export type { MockMatchers } from './to-have-received.ts';

declare module 'vitest' {
  // biome-ignore lint/suspicious/noExplicitAny: must be as vitest declares it
  interface Matchers<T = any> extends MockMatchers {}
}

expect.extend({ toHaveReceived });

/** The fixtures that a test gets besides vitest's own. */
export interface MockFixtures {
  /** A sandbox for this test alone. */
  readonly mock: MockSandbox;
  /** The server: that of `globalSetup`, or one per test file. */
  readonly petstoreMock: PetstoreMock;
}

/**
 * vitest's `test` with a sandbox for each test that uses `mock`. If a test fails, prints the
 * exchanges of its sandbox.
 *
 * @param options of the server. If `globalSetup` or `petstore-mock exec` already runs one, the
 * sandbox takes them.
 * @throws RangeError for a wrong option
 * @example const test = createTest({ failOn: ['unmatched', 'findings'] });
 */
export function createTest(options: TestOptions = {}): TestAPI<MockFixtures> {
  checkTestOptions(options);
  return base.extend<MockFixtures>({
    petstoreMock: [
      // biome-ignore lint/correctness/noEmptyPattern: vitest reads what a fixture needs from its pattern
      async ({}, use) => {
        const server = await openTestMock(options);
        await use(server);
        await server.stop();
      },
      { scope: 'worker' },
    ],
    mock: async ({ petstoreMock, task }, use) => {
      // vitest inverts the result of a test with `fails` only after this.
      const failed = () => (task.result?.state === 'fail') !== (task.fails === true);
      await withTestSandbox(petstoreMock, options, { name: task.name, failed }, use);
    },
  });
}

/** `createTest()` without options. */
export const test: TestAPI<MockFixtures> = createTest();
