import {
  test as base,
  type PlaywrightTestArgs,
  type PlaywrightTestOptions,
  type PlaywrightWorkerArgs,
  type PlaywrightWorkerOptions,
  type TestType,
} from '@playwright/test';
import type { ServerOptions } from '../options.ts';
import type { PetstoreMock } from './connect.ts';
import { inSandbox, mockForTests } from './for-tests.ts';
import type { MockSandbox } from './mock-sandbox.ts';

export interface MockFixtures {
  /** A sandbox of this test alone. */
  readonly mock: MockSandbox;
}

export interface MockWorkerFixtures {
  /** How to start the server, unless one is already running, such as that of `globalSetup`. */
  readonly petstoreMockOptions: ServerOptions;
  /** The server of the sandboxes: that of `globalSetup`, else one per worker. */
  readonly petstoreMock: PetstoreMock;
}

/**
 * Playwright's `test` with a sandbox for each test that uses `mock`. If the test fails, the exchanges of
 * its sandbox are printed and attached.
 */
export const test: TestType<
  PlaywrightTestArgs & PlaywrightTestOptions & MockFixtures,
  PlaywrightWorkerArgs & PlaywrightWorkerOptions & MockWorkerFixtures
> = base.extend<MockFixtures, MockWorkerFixtures>({
  petstoreMockOptions: [{}, { option: true, scope: 'worker' }],
  petstoreMock: [
    async ({ petstoreMockOptions }, use) => {
      const server = await mockForTests(petstoreMockOptions);
      await use(server);
      await server.stop();
    },
    { scope: 'worker' },
  ],
  mock: async ({ petstoreMock }, use, testInfo) => {
    const failed = () => testInfo.status !== testInfo.expectedStatus;
    const body = await inSandbox(petstoreMock, testInfo.title, use, failed);
    if (body !== undefined) {
      await testInfo.attach('petstore-mock', { body, contentType: 'text/plain' });
    }
  },
});
