import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { startPetstoreMock } from '../../../src/index.ts';
import { packageRoot } from '../../../src/server/files.ts';
import { CHROMIUM } from '../../helpers/browser.ts';
import { MAIN } from '../../helpers/command.ts';
import { blocks, readPage } from '../../helpers/page.ts';
import { findProgram, runProgram } from '../../helpers/program.ts';
import { examplesProject } from '../../helpers/projects.ts';
import { toolFile } from '../../helpers/tools.ts';

const node = process.execPath;

/** The runners that a fixture is for, with how the examples are run and how a test file is called. */
/** In milliseconds, for tests of which several programs run side by side. */
const PATIENCE = 60_000;

const RUNNERS = {
  vitest: {
    bin: 'vitest/vitest.mjs',
    args: [
      ...['run', '--pool=forks', '--maxWorkers=2'],
      ...[`--testTimeout=${PATIENCE}`, `--hookTimeout=${PATIENCE}`],
    ],
    from: 'vitest',
    ending: 'test.ts',
  },
  playwright: {
    bin: '@playwright/test/cli.js',
    args: ['test', `--timeout=${PATIENCE}`],
    from: '@playwright/test',
    ending: 'spec.ts',
  },
} as const;
type Runner = keyof typeof RUNNERS;

const folder = examplesProject('vitest', '@playwright/test', '@types/node');
beforeAll(() => {
  addTests('vitest');
  addTests('playwright');
});

/** Added to the example's own tests: two files that report where they run, and one that fails. */
function addTests(runner: Runner): void {
  const { from, ending } = RUNNERS[runner];
  const head = `import { expect } from '${from}';\nimport { createTest, test } from 'petstore-mock/${runner}';\n`;
  const write = (name: string, text: string) =>
    writeFileSync(join(folder, runner, `${name}.${ending}`), head + text);
  write('where-a', WHERE);
  write('where-b', WHERE);
  write('failing', FAILING + MEANT_TO_FAIL[runner]);
  write('strict', STRICT);
}

const WHERE = `
for (const name of ['one', 'other']) {
  test(name, async ({ mock, petstoreMock }) => {
    // The default one, staging, this test's and another worker's: those of earlier tests were
    // deleted.
    const others = await petstoreMock.sandboxes.list();
    expect(process.env.WORKERS === '2' ? others.length : 0).toBeLessThan(5);
    await mock.orders.delete(1);
    expect(await mock.orders.count()).toBe(13);
    console.log('server ' + petstoreMock.url + ' sandbox ' + mock.name);
  });
}`;

const FAILING = `
test('fails', async ({ mock }) => {
  await mock.orders.patch(1, { status: 'shipped' });
  const headers = { Authorization: 'Bearer ' + mock.key };
  const { status } = await fetch(mock.url + '/store/orders/1', { method: 'DELETE', headers });
  expect(status).toBe(204);
});
test('passes', async ({ mock }) => {
  expect(await mock.requests.list()).toEqual([]);
});`;

const STRICT = `
const strict = createTest({ failOn: ['unmatched'], scenarios: ['no-orders'] });
strict('is strict', async ({ mock }) => {
  expect(() => createTest({ seed: 0.5 })).toThrow(/^seed: expected an integer/);
  expect(await mock.orders.count()).toBe(0);
  await fetch(mock.url + '/v1/pets');
});`;

/** The same for Jest, whose test files are CommonJS. */
const JEST = `
const { setupMock } = require('petstore-mock/jest');
describe('strict', () => {
  const mock = setupMock({ failOn: ['unmatched'], scenarios: ['no-orders'] });
  test('is strict', async () => {
    expect(await mock.orders.count()).toBe(0);
    await fetch(mock.url + '/v1/pets');
  });
});
describe('failing', () => {
  const mock = setupMock();
${FAILING.replaceAll('({ mock })', '()')}
  test('expects another call', async () => {
    await fetch(mock.url + '/pets?limit=3', { headers: { Authorization: 'Bearer ' + mock.key } });
    await expect(mock).toHaveReceived('listPets', { limit: 5 });
  });
});`;

/** Ignores expected failures. */
const MEANT_TO_FAIL: Record<Runner, string> = {
  vitest: `test.fails('meant to fail', async ({ mock }) => expect(mock.name).toBe(''));`,
  playwright: `test('meant to fail', async ({ mock }) => {
    test.fail();
    expect(mock.name).toBe('');
  });`,
};

/** What docs/library.md says that a failed test prints, whatever its sandbox is called. */
const [PRINTED_TEXT = ''] = blocks(readPage('docs/library.md'), 'text');
const PRINTED = PRINTED_TEXT.trimEnd()
  .replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
  .replaceAll(/[\da-f]{8}-[\da-f]{4}/g, '[\\da-f-]{13}');

/** What `failOn` says of a call. */
const FORBIDDEN =
  /petstore-mock: the client made (?:1 call|calls) that failOn forbids:\n +1\. GET \/~\S+\/v1\/v1\/pets → 404\n +unmatched: /;

/** Runs some of an example's test files, all that are not named so being left out. */
function run(runner: Runner, files: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const { bin, args } = RUNNERS[runner];
  const words = [join(packageRoot, 'node_modules', bin), ...args, ...files];
  return runProgram(node, words, { cwd: join(folder, runner), env });
}

/** The servers and the sandboxes that the tests reported. */
function places(output: string): { servers: string[]; sandboxes: string[] } {
  const found = [...output.matchAll(/server (\S+) sandbox (\S+)/g)];
  const unique = (at: number) => [...new Set(found.map((match) => match[at] ?? ''))];
  return { servers: unique(1), sandboxes: unique(2) };
}

/** Those of the examples that show a page need a browser. */
const PAGES =
  CHROMIUM === undefined ? { files: [], env: {} } : { files: ['page'], env: { CHROMIUM } };

// Side by side: each of them waits for the start of another program.
describe.concurrent('the example for', () => {
  test('node:test passes', async () => {
    const cwd = join(folder, 'node-test');
    const { code, output } = await runProgram(node, ['--test'], { cwd });
    expect(output).toMatch(/pass 2\n/);
    expect(code).toBe(0);
  });

  test('vitest passes, on one server with a sandbox for each test', async () => {
    const { code, output } = await run('vitest', ['orders', 'patience', 'where']);
    expect(output).toMatch(/11 passed/);
    expect(code).toBe(0);
    const { servers, sandboxes } = places(output);
    expect([servers.length, sandboxes.length]).toEqual([1, 4]);
  });

  test(`Playwright passes ${CHROMIUM === undefined ? 'without' : 'with'} its page, and a failed test prints its exchanges`, async () => {
    const { files, env } = PAGES;
    const all = ['orders', 'where', 'failing', 'strict', ...files];
    const { code, output } = await run('playwright', all, { ...env, WORKERS: '2' });
    expect(output).toMatch(
      new RegExp(`2 failed\n.*failing.spec.ts.*\n.*strict.spec.ts.*\n.*${8 + files.length} passed`),
    );
    expect(output).toMatch(FORBIDDEN);
    expect(code).toBe(1);
    const { servers, sandboxes } = places(output);
    expect([servers.length, sandboxes.length]).toEqual([1, 4]);
    expect(output).toMatch(new RegExp(PRINTED));
    // Each once printed, and once attached to its test.
    expect(output.match(/petstore-mock in/g)).toHaveLength(4);
  });

  test('Jest passes and ends, and a failed test prints its exchanges', async () => {
    const cwd = join(folder, 'jest');
    const jest = (...files: string[]) =>
      runProgram(node, [toolFile('jest/bin/jest.js'), `--testTimeout=${PATIENCE}`, ...files], {
        cwd,
      });
    const { code, output } = await jest('orders');
    expect(output).toMatch(/2 passed/);
    expect(code).toBe(0);
    writeFileSync(join(cwd, 'failing.test.js'), JEST);
    const failing = await jest('failing');
    expect(failing.output).toMatch(/3 failed, 1 passed/);
    expect(failing.output).toMatch(
      new RegExp(
        PRINTED.replace('"fails"', '"failing fails"')
          .replace('sandbox fails', 'sandbox failing-fails')
          .replace('~fails', '~failing-fails'),
      ),
    );
    expect(failing.output).toMatch(FORBIDDEN);
    expect(failing.output).toContain('limit: expected 5, found 3');
    expect(failing.code).toBe(1);
  });
});

test('on a running server, a failed test prints its exchanges and every sandbox is deleted', async () => {
  await using server = await startPetstoreMock({ keys: { valid: ['own-key'] } });
  const env = { PETSTORE_MOCK_URL: server.url, PETSTORE_MOCK_KEY: server.key };
  const { code, output } = await run('vitest', ['failing', 'strict', 'where-a'], env);
  expect(output).toMatch(new RegExp(PRINTED));
  expect(output).toMatch(FORBIDDEN);
  expect(output.match(/petstore-mock in/g)).toHaveLength(2);
  expect(output).toMatch(/2 failed \| 3 passed \| 1 expected fail/);
  expect(code).toBe(1);
  expect(places(output).servers).toEqual([server.url]);
  const left = await server.sandboxes.list();
  expect(left.map(({ name }) => name)).toEqual(['default', 'staging']);
  const { documented } = await server.coverage({ all: true });
  const conflict = documented.find((it) => it.operation === 'cancelOrder' && it.status === 409);
  expect(conflict?.count).toBe(1);
});

describe.concurrent('the example without a library for', () => {
  const exec = (words: readonly string[], more: readonly string[] = []) =>
    runProgram(node, [MAIN, 'exec', ...more, '--', ...words]);

  test('Python passes', async ({ skip }) => {
    const python = findProgram('python3', 'python');
    if (python === undefined) return skip('This machine has no Python.');
    const tests = join(folder, 'python');
    const words = [python, '-m', 'unittest', 'discover', '--start-directory', tests];
    const { code, output } = await exec(words);
    expect(output).toMatch(/Ran 8 tests .*\n\nOK\n/);
    expect(code).toBe(0);
  });

  test('Java passes', async ({ skip }) => {
    const [java, javac] = [findProgram('java'), findProgram('javac')];
    if (java === undefined || javac === undefined) return skip('This machine has no JDK.');
    const classes = join(folder, 'java/classes');
    const sources = ['MockSandbox', 'OrdersTest', 'PatienceTest', 'PetstoreClient'];
    const files = sources.map((name) => join(folder, 'java', `${name}.java`));
    expect(await runProgram(javac, ['-d', classes, ...files])).toEqual({ code: 0, output: '' });
    const { code, output } = await exec([java, '-cp', classes, 'OrdersTest']);
    expect(output).toContain('3 tests passed');
    expect(code).toBe(0);
    expect((await exec([java, '-cp', classes, 'PatienceTest'])).output).toContain('4 tests passed');
  });
});
