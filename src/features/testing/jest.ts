import type { MockSandbox } from '../../client/mock-sandbox.ts';
import type { ServerOptions } from '../../features.ts';
import { requireVersion } from '../../server/require-version.ts';
import type { PetstoreMock } from './connect.ts';
import { installedVersion, PROJECT } from './installed-version.ts';
import { globalSetup as startForRun } from './start-mock.ts';
import {
  checkTestOptions,
  closeTestSandbox,
  openTestMock,
  openTestSandbox,
  type TestOptions,
} from './test-sandbox.ts';
import { type MockMatchers, toHaveReceived } from './to-have-received.ts';

requireVersion('Jest', installedVersion('jest', PROJECT));

export type { TestFailure, TestOptions } from './test-sandbox.ts';
export type { MockMatchers } from './to-have-received.ts';

declare global {
  namespace jest {
    interface Matchers<R, T> extends MockMatchers {}
  }
}

export interface JestGlobals {
  beforeAll(hook: () => Promise<void>): void;
  afterAll(hook: () => Promise<void>): void;
  beforeEach(hook: () => Promise<void>): void;
  afterEach(hook: () => Promise<void>): void;
  readonly expect: {
    extend(matchers: Readonly<Record<string, unknown>>): void;
    getState(): { readonly currentTestName?: string | undefined };
  };
}

/**
 * Gives each test of a file or a `describe` block its own sandbox, and adds `toHaveReceived` to
 * `expect`. If a test fails, prints the exchanges of its sandbox.
 *
 * @param options of the server, of which there is one per test file. If `globalSetup` or
 * `petstore-mock exec` already runs one, each sandbox takes the options.
 * @param jest the exports of `@jest/globals`, if `injectGlobals` is false
 * @returns the sandbox of the running test
 * @throws RangeError for a wrong option
 * @example const mock = setupMock({ failOn: ['unmatched'] });
 */
export function setupMock(options: TestOptions = {}, jest: object = globalThis): MockSandbox {
  checkTestOptions(options);
  if (!isJest(jest))
    throw new TypeError(
      'setupMock: expected to be called in a test file of Jest; with injectGlobals: false, pass what @jest/globals exports as the second argument',
    );
  let server: PetstoreMock;
  let sandbox: MockSandbox | undefined;
  jest.expect.extend({ toHaveReceived });
  jest.beforeAll(async () => {
    server = await openTestMock(options);
  });
  jest.beforeEach(async () => {
    sandbox = await openTestSandbox(server, options, nameTest(jest));
  });
  jest.afterEach(async () => {
    if (sandbox === undefined) return;
    const closed = sandbox;
    sandbox = undefined;
    const running = { name: nameTest(jest), failed: () => hasFailed(jest) };
    await closeTestSandbox(server, closed, options, running);
  });
  jest.afterAll(() => server?.stop());
  const current = (): MockSandbox => {
    if (sandbox !== undefined) return sandbox;
    throw new Error('the mock exists only while a test runs: use it in a test or in beforeEach');
  };
  const handler: ProxyHandler<MockSandbox> = { get: (_, name) => Reflect.get(current(), name) };
  return new Proxy<MockSandbox>(Object.create(null), handler);
}

function isJest(scope: object): scope is JestGlobals {
  return 'beforeAll' in scope && 'expect' in scope;
}

function nameTest({ expect }: JestGlobals): string {
  return expect.getState().currentTestName ?? '';
}

interface JestState {
  readonly currentlyRunningTest?: { readonly errors: readonly unknown[] } | null;
}

/** Jest does not tell hooks whether a test failed, but a global of its own does. */
function hasFailed(jest: object): boolean {
  const symbols = Object.getOwnPropertySymbols(jest);
  const key = symbols.find(({ description }) => description === 'JEST_STATE_SYMBOL');
  const state: JestState | undefined = key && Reflect.get(jest, key);
  return (state?.currentlyRunningTest?.errors.length ?? 0) > 0;
}

let stopServer: (() => Promise<void>) | undefined;

/**
 * Starts one server for all test files, as `globalSetup` of Jest. Needs `globalTeardown`, too.
 *
 * @throws RangeError for a wrong option, or for one that a running server cannot take
 * @example module.exports = globalSetup({ scenarios: ['slow'] });
 */
export function globalSetup(options: ServerOptions = {}): () => Promise<void> {
  const start = startForRun(options);
  return async () => {
    stopServer = await start();
  };
}

/**
 * Stops the server of `globalSetup`: use it as `globalTeardown` in the config of Jest.
 *
 * @example module.exports = globalTeardown;
 */
export async function globalTeardown(): Promise<void> {
  await stopServer?.();
}
