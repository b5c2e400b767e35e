import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { StorageError } from '../../../src/core/sandbox/storage-error.ts';
import { createFolderWriter } from '../../../src/features/disk/scenario-folder.ts';
import { connectPetstoreMock } from '../../../src/index.ts';
import { spawnCommand } from '../../helpers/command.ts';
import { serverFor } from '../../helpers/deployment.ts';
import { temporaryFolder } from '../../helpers/folder.ts';

const folder = temporaryFolder();

const NO_CAT = '# Mine\nrules: [{ on: getPet, reply: { status: 404 } }]\n';

async function startWith(scenarioFolder: string) {
  const { url, close } = await serverFor({ scenarioFolder });
  return Object.assign(await connectPetstoreMock({ url }), { close });
}

test('own scenarios are files, which the next server finds', async () => {
  const own = join(folder, 'a/own');
  const first = await startWith(own);
  await first.scenarios.save('no-cat', NO_CAT);
  await first.scenarios.save('gone', NO_CAT);
  await first.scenarios.delete('gone');
  // Only the default sandbox has files.
  await first.sandbox('other').scenarios.save('theirs', NO_CAT);
  await first.close();
  expect(readdirSync(own)).toEqual(['no-cat.yaml']);
  expect(readFileSync(join(own, 'no-cat.yaml'), 'utf8')).toBe(NO_CAT);

  writeFileSync(join(own, 'slow-cat.yml'), 'extends: slow\n');
  const second = await startWith(own);
  expect(await second.scenarios.text('no-cat')).toBe(NO_CAT);
  await second.sandbox().scenario.use('no-cat', 'slow-cat');
  await second.scenarios.save('slow-cat', { extends: ['no-cat'] });
  expect(readdirSync(own)).toEqual(['no-cat.yaml', 'slow-cat.json']);
  await second.reset({ keep: ['store'] });
  expect(readdirSync(own)).toEqual(['no-cat.yaml', 'slow-cat.json']);
  expect(await second.scenarios.text('slow-cat')).toContain('no-cat');
});

test('a change that the folder does not take gets 503, and is not made', async () => {
  const own = join(folder, 'unsaved');
  const mock = await startWith(own);
  await mock.scenarios.save('kept', NO_CAT);
  const names = async () => (await mock.scenarios.list()).filter(({ own }) => own).length;
  const inTheWay = join(own, '.new.yaml.tmp');
  mkdirSync(inTheWay);
  await expect(mock.scenarios.save('new', NO_CAT)).rejects.toThrow(
    `the change was not made: --scenarios ${own}: `,
  );
  rmSync(inTheWay, { recursive: true });
  rmSync(join(own, 'kept.yaml'));
  mkdirSync(join(own, 'kept.yaml'));
  await expect(mock.scenarios.delete('kept')).rejects.toMatchObject({
    status: 503,
    code: 'not_saved',
  });
  expect([readdirSync(own), await names()]).toEqual([['kept.yaml'], 1]);
  await mock.scenarios.save('new', NO_CAT);
  expect([readdirSync(own), await names()]).toEqual([['kept.yaml', 'new.yaml'], 2]);
});

test('of several scenarios, those before one that cannot be stored are stored', () => {
  const own = join(folder, 'several');
  mkdirSync(join(own, 'two.yaml'), { recursive: true });
  const saved = ['one', 'two', 'three'].map((name) => {
    return [name, { name, description: '', format: 'yaml', text: NO_CAT }] as const;
  });
  const save = createFolderWriter(own);
  expect(() => save(new Map(), new Map(saved))).toThrow(StorageError);
  expect(readdirSync(own)).toEqual(['one.yaml', 'two.yaml']);
});

test('a rewind to before a scenario was saved keeps its file', async () => {
  const own = join(folder, 'rewound');
  const mock = await startWith(own);
  await fetch(mock.url, { headers: { Authorization: 'Bearer demo-key' } });
  await mock.scenarios.save('no-cat', NO_CAT);
  await mock.control.call('POST /requests/{number}/rewind', { path: { number: 1 } });
  expect(readdirSync(own)).toEqual(['no-cat.yaml']);
  expect(await mock.scenarios.text('no-cat')).toBe(NO_CAT);
});

test.skipIf(process.getuid?.() !== 0)('a folder that cannot be written is refused', async () => {
  const own = join(folder, 'readonly');
  mkdirSync(own, { mode: 0o555 });
  chmodSync(folder, 0o755);
  const args = ['--port', '0', '--scenarios', own];
  const { printed, exited } = spawnCommand(args, { uid: 65_534 });
  expect((await exited).code).toBe(2);
  expect(printed.stderr).toContain(`${own}: expected a folder that can be written`);
});

test.each([
  ['mine.yaml', 'rules: 7\n', /mine\.yaml:1:8: \$\.rules: expected an array/],
  ['slow.yaml', 'rules: []\n', /slow\.yaml: the name slow is taken/],
  ['my cat.yaml', 'rules: []\n', /expected a name of 1 to 64 .*, found "my cat"/],
])('a server does not start with %s', async (name, text, message) => {
  const broken = join(folder, name);
  mkdirSync(broken);
  writeFileSync(join(broken, name), text);
  await expect(startWith(broken)).rejects.toThrow(message);
});

test('a folder that has the name of a shipped scenario is most likely a mistake', async () => {
  await expect(startWith('slow')).rejects.toThrow('did you mean --scenario slow?');
});
