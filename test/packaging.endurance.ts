import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { packageRoot, packageVersion } from '../src/server/files.ts';
import { readyUrl } from './helpers/command.ts';
import { temporaryFolder } from './helpers/folder.ts';
import { runProgram, spawnProgram } from './helpers/program.ts';
import { toolFile } from './helpers/tools.ts';

const folder = temporaryFolder();

test('a clone answers after npm ci and npm start, and the tests of its README are those of CI', async () => {
  const clone = join(folder, 'clone');
  const quiet = ['--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error'];
  for (const [program, args, cwd] of [
    ['git', ['clone', '--quiet', packageRoot, clone], folder],
    ['npm', ['ci', ...quiet], clone],
  ] as const) {
    const { code, output } = await runProgram(program, args, { cwd });
    expect(code, output).toBe(0);
  }
  const env = { PETSTORE_MOCK_PORT: '0' };
  const started = spawnProgram('npm', ['start', '--silent'], { cwd: clone, env });
  const url = await readyUrl(started);
  const headers = { Authorization: 'Bearer demo-key' };
  expect((await fetch(`${url}/pets/3`, { headers })).status).toBe(200);
  started.child.kill('SIGTERM');
  await started.exited;
  const npx = await runProgram('npx', ['petstore-mock', '--version'], { cwd: clone });
  expect(npx.output.trim()).toBe(packageVersion());
  expect(readFileSync(join(packageRoot, '.ci/run'), 'utf8')).toContain("'npm ci && npm test'");
});

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
