import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startPetstoreMock } from '../../src/index.ts';
import { findProgram, runProgram } from '../helpers/program.ts';
import { type Project, projectOfExamples } from './project.ts';

const MINUTE = 60_000;
const node = process.execPath;
const CHROMIUM = findProgram('chromium', 'chromium-browser', 'google-chrome');

let project: Project;
beforeAll(() => {
  project = projectOfExamples('vitest', '@playwright/test', '@types/node');
});
afterAll(() => project.remove());

const inExample = (name: string) => ({ cwd: join(project.folder, name) });

describe('each example passes', { timeout: MINUTE }, () => {
  test('vitest', async () => {
    const vitest = project.bin('vitest/vitest.mjs');
    const { code, output } = await runProgram(node, [vitest, 'run'], inExample('vitest'));
    expect(output).toMatch(/3 passed/);
    expect(code).toBe(0);
  });

  test('Jest', async () => {
    const jest = ['--experimental-vm-modules', project.bin('jest/bin/jest.js')];
    const { code, output } = await runProgram(node, jest, inExample('jest'));
    expect(output).toMatch(/2 passed/);
    expect(code).toBe(0);
  });

  test('node:test', async () => {
    const { code, output } = await runProgram(node, ['--test'], inExample('node-test'));
    expect(output).toMatch(/pass 2\n/);
    expect(code).toBe(0);
  });

  test('Playwright, without a browser', async () => {
    const args = [project.bin('@playwright/test/cli.js'), 'test', 'orders.spec.ts'];
    const { code, output } = await runProgram(node, args, inExample('playwright'));
    expect(output).toMatch(/2 passed/);
    expect(code).toBe(0);
  });

  test('Playwright, with a page', async ({ skip }) => {
    if (CHROMIUM === undefined) return skip('This machine has no chromium.');
    const args = [project.bin('@playwright/test/cli.js'), 'test', 'page.spec.ts'];
    const env = { CHROMIUM };
    const { code, output } = await runProgram(node, args, { ...inExample('playwright'), env });
    expect(output).toMatch(/1 passed/);
    expect(code).toBe(0);
  });
});

test('the fixtures use the server of PETSTORE_MOCK_URL', { timeout: MINUTE }, async () => {
  let seen = 0;
  const observe = (): void => {
    seen += 1;
  };
  const server = await startPetstoreMock({ observe, keys: { valid: ['own-key'] } });
  try {
    const env = { PETSTORE_MOCK_URL: server.url, PETSTORE_MOCK_KEY: server.key };
    const vitest = [project.bin('vitest/vitest.mjs'), 'run', 'orders'];
    const { code, output } = await runProgram(node, vitest, { ...inExample('vitest'), env });
    expect(code, output).toBe(0);
    expect(seen).toBe(4);
    expect(await server.sandboxes.list()).toHaveLength(2);
  } finally {
    await server.stop();
  }
});

test('their types are right', { timeout: MINUTE }, async () => {
  const config = {
    compilerOptions: {
      strict: true,
      exactOptionalPropertyTypes: true,
      noEmit: true,
      module: 'nodenext',
      target: 'es2023',
      lib: ['es2023', 'esnext.disposable', 'dom'],
      types: ['node'],
      allowJs: true,
      skipLibCheck: true,
    },
    include: ['vitest', 'playwright'],
  };
  writeFileSync(join(project.folder, 'tsconfig.json'), JSON.stringify(config));
  const tsc = project.bin('typescript/bin/tsc');
  const { code, output } = await runProgram(node, [tsc], { cwd: project.folder });
  expect(output).toBe('');
  expect(code).toBe(0);
});

const FAILING = `
  await mock.orders.patch(1, { status: 'shipped' });
  const headers = { Authorization: 'Bearer ' + mock.key };
  const { status } = await fetch(mock.url + '/store/orders/1', { method: 'DELETE', headers });
  expect(status).toBe(204);
`;
const TOLD =
  /petstore-mock in the sandbox [\w-]+:\n.*1\. DELETE \/~[\w-]+\/v1\/store\/orders\/1 → 409, documented: the order 1 has shipped/;

describe('a failed test prints the exchanges of its sandbox', { timeout: MINUTE }, () => {
  test.each([
    ['vitest', ['vitest/vitest.mjs', 'run', 'failing'], 'failing.test.ts', 'vitest'],
    [
      'playwright',
      ['@playwright/test/cli.js', 'test', 'failing'],
      'failing.spec.ts',
      '@playwright/test',
    ],
  ])('under %s', async (name, [script = '', ...args], file, runner) => {
    const text = `import { expect } from '${runner}';
import { test } from 'petstore-mock/${name}';
test('fails', async ({ mock }) => {${FAILING}});
test('passes', async ({ mock, petstoreMock }) => {
  expect(await mock.requests.list()).toEqual([]);
  expect(await petstoreMock.sandboxes.list()).toHaveLength(3);
});`;
    writeFileSync(join(project.folder, name, file), text);
    const run = [project.bin(script), ...args];
    const { code, output } = await runProgram(node, run, inExample(name));
    expect(output).toMatch(TOLD);
    expect(output.match(/petstore-mock (?:in|was)/g)).toHaveLength(name === 'vitest' ? 1 : 2);
    expect(output).toMatch(/1 passed/);
    expect(code).toBe(1);
  });
});
