import { copyFileSync, cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { packageRoot } from '../../src/server/files.ts';
import { temporaryFolder } from './folder.ts';
import { blocks, readPage } from './page.ts';
import { runProgram } from './program.ts';
import { toolFile } from './tools.ts';

/** Copies the examples to a folder in which the built package and these others are installed. */
export function examplesProject(...packages: readonly string[]): string {
  const folder = temporaryFolder();
  const modules = join(folder, 'node_modules');
  cpSync(join(packageRoot, 'examples'), folder, { recursive: true });
  // A copy, so that what it imports is looked for here, and not in the modules of this project.
  for (const part of ['package.json', 'dist', 'fixtures', 'scenarios']) {
    cpSync(join(packageRoot, part), join(modules, 'petstore-mock', part), { recursive: true });
  }
  for (const name of packages) {
    const path = join(modules, name);
    mkdirSync(dirname(path), { recursive: true });
    symlinkSync(join(packageRoot, 'node_modules', name), path, 'junction');
  }
  return folder;
}

const STRICT = {
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  noEmit: true,
  types: [],
  target: 'es2022',
  lib: ['es2022', 'dom'],
};

const TYPESCRIPT = join(packageRoot, 'node_modules/typescript/bin/tsc');

/**
 * Sets up a project that has the published types installed, what they name, and nothing else of what
 * developing the package needs.
 *
 * @returns what a version of TypeScript says of files under some options
 */
export function typesProject() {
  const folder = examplesProject('@types/node', 'vitest', '@playwright/test');
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  const consumer = join(packageRoot, 'test/features/testing/types/consumer.ts');
  for (const name of ['consumer.ts', 'consumer.cts']) copyFileSync(consumer, join(folder, name));
  for (const [runner, head] of Object.entries(RUNNERS))
    writeFileSync(join(folder, runner, 'matchers.cts'), head + MATCHERS);
  mkdirSync(join(folder, 'node_modules/@jest'));
  for (const name of ['expect', '@jest/globals'])
    symlinkSync(toolFile(name), join(folder, 'node_modules', name), 'junction');
  return (name: string, files: readonly string[], options: object, version: 5 | 7 = 7) => {
    const config = `tsconfig.${name}.json`;
    const text = JSON.stringify({ compilerOptions: { ...STRICT, ...options }, files });
    writeFileSync(join(folder, config), text);
    // Other tests have the other processors.
    const tsc = version === 5 ? [toolFile('typescript/bin/tsc')] : [TYPESCRIPT, '--singleThreaded'];
    return runProgram(process.execPath, [...tsc, '-p', config], { cwd: folder });
  };
}

const OPTIONS = `{ failOn: ['unmatched', 'findings', 'rounded-id'], scenarios: ['slow'] }`;

/** How each runner gives a test its mock. The page says what the types of Jest need. */
const RUNNERS = {
  vitest: `
import { expect } from 'vitest';
import { createTest } from 'petstore-mock/vitest';
const test = createTest(${OPTIONS});
// @ts-expect-error
createTest({ failOn: ['unmatch'] });`,
  playwright: `
import { createTest, expect } from 'petstore-mock/playwright';
const test = createTest(${OPTIONS});`,
  jest: `
import { expect, test as jestTest } from '@jest/globals';
import { setupMock } from 'petstore-mock/jest';
${blocks(readPage('docs/library.md'), 'typescript')}
const mock = setupMock(${OPTIONS});
const test = (name: string, use: (fixtures: { mock: typeof mock }) => Promise<void>) =>
  jestTest(name, () => use({ mock }));`,
};

/** Uses the matcher as each runner types it. */
const MATCHERS = `
test('matchers', async ({ mock }) => {
  await expect(mock).toHaveReceived('createPet', { name: 'Rex', categoryId: 1n });
  await expect(mock).not.toHaveReceived('listPets', { status: expect.stringMatching(/d$/), limit: 5 });
  await expect(mock).toHaveReceived('listOrders');
  // @ts-expect-error
  await expect(mock).toHaveReceived('createPets');
  // @ts-expect-error
  await expect(mock).toHaveReceived('createPet', { nam: 'Rex' });
  // @ts-expect-error
  await expect(mock).toHaveReceived('cancelOrder', { orderId: 'one' });
});
`;
