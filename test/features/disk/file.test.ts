import {
  chmodSync,
  existsSync,
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
import { outcome } from '../../../src/core/sandbox/answer.ts';
import type { Persistence } from '../../../src/core/sandbox/persistence.ts';
import type { Sandbox } from '../../../src/core/sandbox/sandbox.ts';
import type { State } from '../../../src/core/sandbox/state.ts';
import { currentInstant } from '../../../src/core/service/clock.ts';
import { createStore, EMPTY_STORE } from '../../../src/core/store/store.ts';
import { storeText } from '../../../src/core/store/store-text.ts';
import { createStoreWriter, openStoreFile } from '../../../src/features/disk/file.ts';
import { temporaryFolder } from '../../helpers/folder.ts';
import { createSandboxes } from '../../helpers/sandboxes.ts';

const folder = temporaryFolder();

function serve(file: Awaited<ReturnType<typeof openStoreFile>>) {
  const sandboxes = createSandboxes();
  return { sandbox: sandboxes.default, persistence: file.open(sandboxes) };
}

async function addAnimal(sandbox: Sandbox, persistence: Persistence, id: bigint): Promise<void> {
  const change = (state: State) => {
    const animals = state.store.animals.with({ id, name: 'Rex', categoryId: 1n });
    return outcome(state, undefined, { store: { ...state.store, animals } });
  };
  const text = { what: `add ${id}`, by: 'test' };
  await persistence.keep(sandbox, () => sandbox.change(change, currentInstant(), text));
}

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

test.each([
  ['a directory', (path: string) => mkdirSync(path)],
  ['bytes that are not UTF-8', (path: string) => writeFileSync(path, Buffer.of(255))],
])('a file that is %s is refused, and leaves no lock', async (found, make) => {
  const path = join(folder, found);
  make(path);
  const why = `--db ${path}: expected the file of a store or the name for a new one, found ${found}`;
  await expect(openStoreFile(path, EMPTY_STORE)).rejects.toThrow(why);
  expect(existsSync(`${path}.lock`)).toBe(false);
});

test('without its lock, a server makes no change', async () => {
  const path = join(folder, 'lost.json');
  const file = await openStoreFile(path, EMPTY_STORE);
  const { sandbox, persistence } = serve(file);
  rmdirSync(`${path}.lock`);
  let id = 0n;
  const refused = async () => {
    id += 1n;
    return String(await addAnimal(sandbox, persistence, id).catch(String));
  };
  await expect.poll(refused).toContain(`another server may have ${path}`);
  await file.close();
});

test('a writer gives the text of each store, whatever it wrote before', () => {
  const zoe = { id: 2n ** 63n - 1n, name: 'Zoë "Z"', categoryId: -1n };
  const orders = [{ id: 2n, petId: zoe.id, status: 'pending' as const }, { id: 1n }];
  const store = createStore({ animals: [zoe], inventory: [], orders });
  const renamed = { ...store, animals: store.animals.with({ ...zoe, name: 'Max' }) };
  const emptied = { ...renamed, orders: renamed.orders.without([1n]) };
  const write = createStoreWriter();
  for (const it of [store, renamed, store, emptied, EMPTY_STORE, store]) {
    expect(write(it)).toBe([...storeText(it)].join(''));
  }
});
