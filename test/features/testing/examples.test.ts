import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runProgram } from '../../helpers/program.ts';
import { examplesProject } from '../../helpers/projects.ts';

// Only the quickest example; examples.endurance.ts runs the others.

const folder = examplesProject();

test('the example for node:test passes', async () => {
  const cwd = join(folder, 'node-test');
  const { code, output } = await runProgram(process.execPath, ['--test'], { cwd });
  expect(output).toMatch(/pass 2\n/);
  expect(code).toBe(0);
});
