import { type FileOptions, openFile } from '../../src/log/file/file-keeper.ts';
import { readFileWithLog } from '../../src/log/file/file-with-log.ts';
import { type Store, storeChange } from '../../src/store/store.ts';

export type KeptFile = Awaited<ReturnType<typeof openKeptFile>>;

/** Opens a store in a file, which changes as a sandbox does it. */
export async function openKeptFile(path: string, initial: Store, options?: FileOptions) {
  const { store, keeper } = await openFile(path, initial, options);
  let kept = store;
  return {
    /** What was acknowledged. */
    get store() {
      return kept;
    },
    /** Keeps edits in one append. If that fails, none of them was made. */
    async keep(...edits: readonly ((store: Store) => Store)[]): Promise<void> {
      let next = kept;
      const entries = edits.map((edit) => {
        const before = next;
        next = edit(before);
        return { change: { store: storeChange(before, next) } };
      });
      await keeper.append(entries, { store: next });
      kept = next;
    },
    close: () => keeper.close(),
  };
}

/** Adds an animal. */
export function animal(id: number | bigint, name = `Animal ${id}`): (store: Store) => Store {
  return (store) => ({
    ...store,
    animals: store.animals.with({ id: BigInt(id), name, categoryId: 2n ** 63n - 1n }),
  });
}

/** The store that a file and its log hold. */
export async function storeIn(path: string): Promise<Store> {
  const pair = await readFileWithLog(path);
  if (pair === undefined) throw new Error(`There is no ${path}.`);
  return pair.store;
}
