import {
  test as base,
  expect as baseExpect,
  type Expect,
  type PlaywrightTestArgs,
  type PlaywrightTestOptions,
  type PlaywrightWorkerArgs,
  type PlaywrightWorkerOptions,
  type TestType,
} from '@playwright/test';
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
import { toHaveReceived } from './to-have-received.ts';

requireVersion('Playwright', installedVersion('@playwright/test'));

export type { TestFailure, TestOptions } from './test-sandbox.ts';

/** The fixtures that a test gets besides Playwright's own. */
export interface MockFixtures {
  /** A sandbox for this test alone. */
  readonly mock: MockSandbox;
}

/** The fixtures that a worker gets. */
export interface MockWorkerFixtures {
  /**
   * How to start the server. If `globalSetup` or `petstore-mock exec` already runs one, each
   * sandbox takes these options.
   */
  readonly petstoreMockOptions: TestOptions;
  /** The server of the sandboxes: that of `globalSetup`, or one per worker. */
  readonly petstoreMock: PetstoreMock;
}

/** Playwright's `test` with the fixtures. */
export type MockTest = TestType<
  PlaywrightTestArgs & PlaywrightTestOptions & MockFixtures,
  PlaywrightWorkerArgs & PlaywrightWorkerOptions & MockWorkerFixtures
>;

/**
 * Playwright's `test` with a sandbox for each test that uses `mock`. If a test fails, prints and
 * attaches the exchanges of its sandbox.
 *
 * @param options the default of `petstoreMockOptions`
 * @throws RangeError for a wrong option
 * @example const test = createTest({ failOn: ['unmatched', 'findings'] });
 */
export function createTest(options: TestOptions = {}): MockTest {
  checkTestOptions(options);
  return base.extend<MockFixtures, MockWorkerFixtures>({
    petstoreMockOptions: [options, { option: true, scope: 'worker' }],
    petstoreMock: [
      async ({ petstoreMockOptions }, use) => {
        checkTestOptions(petstoreMockOptions);
        const server = await openTestMock(petstoreMockOptions);
        await use(server);
        await server.stop();
      },
      { scope: 'worker' },
    ],
    mock: async ({ petstoreMock, petstoreMockOptions }, use, testInfo) => {
      const running = {
        name: testInfo.title,
        failed: () => testInfo.status !== testInfo.expectedStatus,
        attach: (body: string) =>
          testInfo.attach('petstore-mock', { body, contentType: 'text/plain' }),
      };
      await withTestSandbox(petstoreMock, petstoreMockOptions, running, use);
    },
  });
}

/** `createTest()` without options. */
export const test: MockTest = createTest();

/** Playwright's `expect` with `toHaveReceived`. */
export const expect: Expect<{ toHaveReceived: typeof toHaveReceived }> = baseExpect.extend({
  toHaveReceived,
});
