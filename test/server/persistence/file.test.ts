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
