import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { packageRoot } from '../../src/package.ts';
import type { LoadReport } from '../helpers/faults-load.ts';

const LOAD = join(packageRoot, 'test/helpers/faults-load.ts');

test('10,000 faults leave no socket, no timer and no memory behind', async () => {
  const args = ['--expose-gc', '--import', 'tsx', LOAD];
  const { stdout, stderr } = await promisify(execFile)(process.execPath, args, {
    cwd: packageRoot,
  });
  const { before, after, carriedOut }: LoadReport = JSON.parse(stdout);
  expect(stderr).toBe('');
  expect(after.resources).toEqual(before.resources);
  // A hundred bytes left by each would be 1 MB.
  expect(after.megabytes - before.megabytes).toBeLessThan(2);
  expect(Math.min(...Object.values(carriedOut))).toBeGreaterThan(1_000);
});
