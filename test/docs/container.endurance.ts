import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { packageRoot } from '../../src/package.ts';
import { dockerfile } from '../helpers/dockerfile.ts';

test('what the Dockerfile copies into its build stage is enough for its build', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'container-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const { copied } = dockerfile();
  for (const { stage, path } of copied) {
    if (stage === 'build') cpSync(join(packageRoot, path), join(folder, path), { recursive: true });
  }
  symlinkSync(join(packageRoot, 'node_modules'), join(folder, 'node_modules'), 'junction');
  // npm sets variables for its children, but the npm below must not be one of them.
  const variables = Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name));
  await promisify(execFile)('npm', ['run', 'build'], {
    cwd: folder,
    env: Object.fromEntries(variables),
  });
  expect(existsSync(join(folder, 'dist/cli/main.js'))).toBe(true);
});
