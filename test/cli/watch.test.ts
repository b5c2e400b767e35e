import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { connectPetstoreMock } from '../../src/index.ts';
import { packageRoot } from '../../src/server/files.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { serveInProcess } from '../helpers/invocation.ts';

const folder = temporaryFolder();

test('--watch restarts every sandbox when a file changes, unless the file is broken', async () => {
  const fixture = join(folder, 'fixture.json');
  const scenario = join(folder, 'one.yaml');
  const whole = readFileSync(join(packageRoot, 'fixtures/default.json'), 'utf8');
  writeFileSync(fixture, whole);
  writeFileSync(scenario, 'assume: { unknown-pet: 400 }\n');
  const args = ['--port', '0', '--watch', '--fixture', fixture, '--scenario', scenario];
  const command = await serveInProcess(args);
  const told = async (text: string, times = 1) => {
    while (command.stderr().split(text).length <= times) await command.told();
  };
  const statusOf = async (path: string, key = 'demo-key') => {
    const headers = { Authorization: `Bearer ${key}` };
    return (await fetch(command.url.replace('/v1', path), { headers })).status;
  };
  expect(await statusOf('/~one/v1/pets/999')).toBe(400);

  writeFileSync(scenario, 'assume: { unknown-pet: 404 }\n');
  await told('all sandboxes were restarted');
  expect(await statusOf('/~one/v1/pets/999')).toBe(404);

  // Nothing brings back what the files no longer say.
  const { control } = await connectPetstoreMock({ url: command.url });
  await control.call('PATCH /animals/{id}', { path: { id: 1 }, body: { name: 'Max' } });
  await control.call('POST /sandboxes', { body: { name: 'two', like: 'staging' } });
  expect(await statusOf('/v1/pets/999')).toBe(404);
  writeFileSync(fixture, whole.replace('"Bella"', '"Luna"'));
  await told('all sandboxes were restarted', 2);
  expect(await statusOf('/~two/v1/pets', 'staging-key')).toBe(200);
  expect(await statusOf('/~two/v1/pets')).toBe(401);
  await expect(control.call('POST /undo')).rejects.toMatchObject({ code: 'nothing_to_undo' });
  const rewinding = control.call('POST /requests/{number}/rewind', { path: { number: 1 } });
  await expect(rewinding).rejects.toThrow('files were loaded again');
  const { edits } = await control.call('GET /requests', { query: { edits: true, limit: 0 } });
  expect(edits).toMatchObject([
    { what: 'restarted after a change of files', changed: { animals: 0 } },
    { what: 'changed animal 1' },
    { by: '--watch', changed: { animals: 2, inventory: 0, orders: 0 } },
  ]);

  writeFileSync(fixture, '{"animals": []');
  await told('cannot be used');
  expect(command.stderr()).toContain(`${fixture}:1:15`);
  expect(await statusOf('/v1/pets/1')).toBe(200);

  // To look at a sandbox creates none, and a restart reaches it all the same.
  expect(await statusOf('/~viewed/__mock/animals/1')).toBe(200);
  writeFileSync(fixture, '{"animals": []}');
  await told('all sandboxes were restarted', 3);
  expect(await statusOf('/v1/pets/1')).toBe(404);
  expect(await statusOf('/~viewed/v1/pets/1')).toBe(404);
  expect((await command.stop()).code).toBe(0);
});
