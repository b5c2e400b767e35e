import { type FileOptions, openFile } from '../../src/log/file/file-keeper.ts';
import { readFileWithLog } from '../../src/log/file/file-with-log.ts';
import { type Store, storeChange } from '../../src/store/store.ts';

/** A store in a file, changed as a sandbox does it. */
export interface KeptFile {
  /** What was acknowledged. */
  readonly store: Store;
  /** Keeps edits in one append. If that fails, none of them was made. */
  keep(...edits: readonly ((store: Store) => Store)[]): Promise<void>;
  close(): Promise<void>;
}

export async function openKeptFile(
  path: string,
  initial: Store,
  options?: FileOptions,
): Promise<KeptFile> {
  const { store, keeper } = await openFile(path, initial, options);
  let kept = store;
  return {
    get store() {
      return kept;
    },
    async keep(...edits) {
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
