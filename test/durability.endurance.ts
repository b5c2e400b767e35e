import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished, test } from 'vitest';
import { killUnderLoad } from './helpers/kill.ts';

test('a server that is killed 50 times under load loses no acknowledged change', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'durability-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  await killUnderLoad(join(folder, 'killed.json'), 50);
});
