import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { connectPetstoreMock } from '../../../src/index.ts';
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

test.each([
  ['mine.yaml', 'rules: 7\n', /mine\.yaml:1:8: \$\.rules: expected an array/],
  ['slow.yaml', 'rules: []\n', /slow\.yaml: the name slow is taken/],
  ['my cat.yaml', 'rules: []\n', /expected a name of 1 to 64 of .*, found "my cat"/],
])('a server does not start with %s', async (name, text, message) => {
  const broken = join(folder, name);
  mkdirSync(broken);
  writeFileSync(join(broken, name), text);
  await expect(startWith(broken)).rejects.toThrow(message);
});

test('a folder that has the name of a shipped scenario is most likely a mistake', async () => {
  await expect(startWith('slow')).rejects.toThrow('did you mean --scenario slow?');
});
