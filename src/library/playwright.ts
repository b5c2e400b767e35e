import {
  test as base,
  type PlaywrightTestArgs,
  type PlaywrightTestOptions,
  type PlaywrightWorkerArgs,
  type PlaywrightWorkerOptions,
  type TestType,
} from '@playwright/test';
import type { ServerOptions } from '../server.ts';
import type { PetstoreMock } from './connect.ts';
import { forgetSandbox, mockForTests, openSandbox, tellExchanges } from './for-tests.ts';
import type { MockSandbox } from './mock-sandbox.ts';

export interface MockFixtures {
  /** A sandbox that only this test knows of. */
  readonly mock: MockSandbox;
}

export interface MockWorkerFixtures {
  /** How the server starts, unless one runs already, as that of `globalSetup` does. */
  readonly petstoreMockOptions: ServerOptions;
  /** The server that the sandboxes are in: that of `globalSetup`, else one for each worker. */
  readonly petstoreMock: PetstoreMock;
}

/**
 * The `test` of Playwright, with a sandbox for each test that asks for `mock`. Where the test fails,
 * the exchanges of its sandbox are printed, and attached to it.
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
    const sandbox = await openSandbox(petstoreMock);
    await use(sandbox);
    if (testInfo.status !== testInfo.expectedStatus) {
      const body = await tellExchanges(sandbox, testInfo.title);
      // biome-ignore lint/suspicious/noConsole: what is printed so is shown with its test
      console.error(body);
      await testInfo.attach('petstore-mock', { body, contentType: 'text/plain' });
    }
    await forgetSandbox(petstoreMock, sandbox);
  },
});
