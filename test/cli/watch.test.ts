import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { packageRoot } from '../../src/files.ts';
import { type RunningCommand, startCommand } from '../helpers/command.ts';
import { temporaryFolder } from '../helpers/folder.ts';

const folder = temporaryFolder();

const headers = { Authorization: 'Bearer demo-key' };

/** Waits until the command has printed something on standard error, a number of times. */
async function told({ stderr, process }: RunningCommand, text: string, times = 1): Promise<void> {
  while (stderr().split(text).length <= times) await once(process.stderr, 'data');
}

test('--watch restarts every sandbox when a file changes, unless the file is broken', async () => {
  const fixture = join(folder, 'fixture.json');
  const scenario = join(folder, 'one.yaml');
  const whole = readFileSync(join(packageRoot, 'fixtures/default.json'), 'utf8');
  writeFileSync(fixture, whole);
  writeFileSync(scenario, 'assume: { unknown-pet: 400 }\n');
  const args = ['--port', '0', '--watch', '--fixture', fixture, '--scenario', scenario];
  const command = await startCommand(args);
  const statusOf = async (path: string) =>
    (await fetch(command.url.replace('/v1', path), { headers })).status;
  expect(await statusOf('/~one/v1/pets/999')).toBe(400);

  writeFileSync(scenario, 'assume: { unknown-pet: 404 }\n');
  await told(command, 'all sandboxes were restarted');
  expect(await statusOf('/~one/v1/pets/999')).toBe(404);

  writeFileSync(fixture, '{"animals": []');
  await told(command, 'cannot be used');
  expect(command.stderr()).toContain(`${fixture}:1:15`);
  expect(await statusOf('/v1/pets/1')).toBe(200);

  writeFileSync(fixture, '{"animals": []}');
  await told(command, 'all sandboxes were restarted', 2);
  expect(await statusOf('/v1/pets/1')).toBe(404);
  expect((await command.stop()).code).toBe(0);
});

test.skipIf(process.platform === 'win32')(
  '--watch keeps what came from a pipe, and refuses a pipe in place of a file until it is one again',
  async () => {
    const [fixture, pipe] = [join(folder, 'store.pipe'), join(folder, 'scenario.pipe')];
    execFileSync('mkfifo', [fixture, pipe]);
    const scenario = join(folder, 'two.yaml');
    writeFileSync(scenario, 'assume: { unknown-pet: 400 }\n');
    for (const [file, text] of [
      [fixture, '{"animals": []}'],
      [pipe, 'assume: { limit-out-of-range: clamp }'],
    ] as const) {
      spawn('sh', ['-c', 'printf %s "$0" > "$1"', text, file]);
    }
    const args = ['--port', '0', '--watch', '--fixture', fixture];
    const command = await startCommand([...args, '--scenario', pipe, '--scenario', scenario]);
    const statusOf = async (path: string) => (await fetch(command.url + path, { headers })).status;

    writeFileSync(scenario, 'assume: { unknown-pet: 404 }\n');
    await told(command, 'all sandboxes were restarted');
    expect([await statusOf('/pets/1'), await statusOf('/pets?limit=900')]).toEqual([404, 200]);

    // At once: a file that is gone, and then a pipe, could be taken for a pipe from the start.
    execFileSync('mkfifo', [`${scenario}.new`]);
    renameSync(`${scenario}.new`, scenario);
    await told(command, `${scenario}: expected a file, found a pipe`);
    rmSync(scenario);
    writeFileSync(scenario, 'assume: { unknown-pet: 400 }\n');
    await told(command, 'all sandboxes were restarted', 2);
    expect(await statusOf('/pets/1')).toBe(400);
    expect((await command.stop()).code).toBe(0);
  },
);
