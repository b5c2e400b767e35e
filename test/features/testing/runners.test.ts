import { expect, onTestFinished, test, vi } from 'vitest';
import { globalSetup, globalTeardown, setupMock } from '../../../src/features/testing/jest.ts';

type Hook = () => Promise<void>;

/** What Jest defines in a test file, as far as `setupMock` uses it. */
function createJest(errors: readonly string[]) {
  const hooks: Hook[] = [];
  const add = (hook: Hook) => void hooks.push(hook);
  const expect = { extend: vi.fn(), getState: () => ({ currentTestName: 'adds Rex' }) };
  const state = { currentlyRunningTest: { errors } };
  const names = ['beforeAll', 'beforeEach', 'afterEach', 'afterAll'];
  const adders = Object.fromEntries(names.map((name) => [name, add]));
  return { hooks, jest: { ...adders, expect, [Symbol('JEST_STATE_SYMBOL')]: state } };
}

test.each([
  ['passes', [], 0],
  ['fails', ['expected 204, found 409'], 1],
])('a test that %s has a sandbox while it runs', async (_what, errors, reports) => {
  const printed = vi.spyOn(console, 'error').mockImplementation(() => {});
  onTestFinished(() => printed.mockRestore());
  const { hooks, jest } = createJest(errors);
  const mock = setupMock({ scenarios: ['no-orders'] }, jest);
  expect(jest.expect.extend).toHaveBeenCalledOnce();
  const [beforeAll, beforeEach, afterEach, afterAll] = hooks;
  expect(() => mock.name).toThrow(/^the mock exists only while a test runs/);
  await beforeAll?.();
  await beforeEach?.();
  expect(mock.name).toMatch(/^adds-Rex-/);
  expect(await mock.orders.count()).toBe(0);
  await afterEach?.();
  expect(() => mock.name).toThrow(/^the mock exists only while a test runs/);
  await afterEach?.();
  await afterAll?.();
  expect(printed).toHaveBeenCalledTimes(reports);
});

test('wrong options and a file that is not of Jest are refused', () => {
  expect(() => setupMock({}, {})).toThrow(/^setupMock: expected to be called in a test file/);
  expect(() => setupMock({ seed: 0.5 })).toThrow(/^seed: expected an integer/);
});

test('the server of a run is in the environment until its teardown', async () => {
  vi.stubEnv('PETSTORE_MOCK_URL', '');
  await globalSetup()();
  expect(process.env.PETSTORE_MOCK_URL).toMatch(/^http:/);
  await globalTeardown();
  expect(process.env.PETSTORE_MOCK_URL).toBeUndefined();
});
