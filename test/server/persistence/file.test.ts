import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  rmdirSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Sandboxes } from '../../../src/core/sandbox/sandboxes.ts';
import { createStart } from '../../../src/core/scenario/sandbox-start.ts';
import { EMPTY_STORE } from '../../../src/core/store/store.ts';
import { openStoreFile } from '../../../src/server/persistence/file.ts';
import { temporaryFolder } from '../../helpers/folder.ts';

const folder = temporaryFolder();

test('an undo takes back the edit before it, even while that is being written', async () => {
  const file = await openStoreFile(join(folder, 'undone.json'), EMPTY_STORE);
  const sandboxes = new Sandboxes(createStart({}, EMPTY_STORE), {}, { openStorage: file.open });
  const sandbox = sandboxes.default;
  const add = (id: bigint) =>
    sandbox.edit(
      (state) => {
        const animals = state.store.animals.with({ id, name: 'Rex', categoryId: 1n });
        return { state: { ...state, store: { ...state.store, animals } }, result: undefined };
      },
      { what: `add ${id}`, by: 'test' },
    );
  await add(1n);
  const [, , one, , other, none] = await Promise.all([
    add(2n),
    add(3n),
    sandbox.undo('test'),
    add(4n),
    sandbox.undo('test'),
    sandbox.undo('test'),
  ]);
  expect([one, other, none]).toMatchObject([
    { what: 'add 4' },
    { what: 'add 3' },
    { what: 'add 2' },
  ]);
  expect([...sandbox.state.store.animals.ascending()].map(({ id }) => id)).toEqual([1n]);
  await file.close();
});

test.each([
  [16, ['lock']],
  [1, ['lock', 'lock.guard']],
])(
  'of %i servers that find %j of a crashed one at once, one gets the file',
  async (count, left) => {
    const path = join(folder, `${count}.json`);
    for (let round = 0; round < 10; round += 1) {
      for (const name of left) {
        mkdirSync(`${path}.${name}`);
        utimesSync(`${path}.${name}`, 1e9, 1e9);
      }
      const opened = await Promise.allSettled(
        Array.from({ length: count }, () => openStoreFile(path, EMPTY_STORE)),
      );
      const files = opened.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
      expect(files).toHaveLength(1);
      await files[0]?.close();
    }
  },
);

test('a write keeps the mode of the file and the links to it, and follows no link to write', async () => {
  const [path, link] = [join(folder, 'private.json'), join(folder, 'link.json')];
  const victim = join(folder, 'victim');
  writeFileSync(path, '{}');
  chmodSync(path, 0o600);
  symlinkSync(path, link);
  writeFileSync(victim, 'untouched');
  symlinkSync(victim, join(folder, '.private.json.tmp'));
  await (await openStoreFile(link, EMPTY_STORE)).close();
  expect(readFileSync(victim, 'utf8')).toBe('untouched');
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect([lstatSync(link).isSymbolicLink(), lstatSync(path).isFile()]).toEqual([true, true]);
});

test('without its lock, a server makes no change', async () => {
  const path = join(folder, 'lost.json');
  const file = await openStoreFile(path, EMPTY_STORE);
  const sandboxes = new Sandboxes(createStart({}, EMPTY_STORE), {}, { openStorage: file.open });
  rmdirSync(`${path}.lock`);
  let id = 0n;
  const add = () =>
    sandboxes.default.edit((state) => {
      id += 1n;
      const animals = state.store.animals.with({ id, name: 'Rex', categoryId: 1n });
      return { state: { ...state, store: { ...state.store, animals } }, result: undefined };
    });
  const refused = () => add().then(String, String);
  await expect.poll(refused).toContain(`another server may have ${path}`);
  await file.close();
});
