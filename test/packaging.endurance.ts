import { join } from 'node:path';
import { expect, test } from 'vitest';
import { packageRoot } from '../src/server/files.ts';
import { temporaryFolder } from './helpers/folder.ts';
import { runProgram } from './helpers/program.ts';
import { toolFile } from './helpers/tools.ts';

const folder = temporaryFolder();

test('every way to resolve the types of the packed package finds them', async () => {
  // Without scripts: another build would delete the package under the running tests.
  const pack = ['pack', '--ignore-scripts', '--loglevel=error', '--pack-destination', folder];
  const { output: name } = await runProgram('npm', pack, { cwd: packageRoot });
  const attw = toolFile('@arethetypeswrong/cli/dist/index.js');
  // Node itself requires ES modules; only Jest needs CommonJS.
  const args = [attw, join(folder, name.trim()), '--ignore-rules', 'cjs-resolves-to-esm'];
  const { code, output } = await runProgram(process.execPath, args, { cwd: packageRoot });
  expect(output).toContain('"petstore-mock/vitest"');
  expect(code, output).toBe(0);
});
