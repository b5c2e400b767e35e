import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Project, projectOfExamples } from '../helpers/examples-project.ts';
import { runProgram } from '../helpers/program.ts';

// Only the quickest example; examples.endurance.ts runs the others.

let project: Project;
beforeAll(() => {
  project = projectOfExamples();
});
afterAll(() => project.remove());

test('the example for node:test passes', async () => {
  const cwd = join(project.folder, 'node-test');
  const { code, output } = await runProgram(process.execPath, ['--test'], { cwd });
  expect(output).toMatch(/pass 2\n/);
  expect(code).toBe(0);
});
