import { openStoreFile, type StoreFileOptions } from '../../src/store/file/store-file.ts';
import { readPair } from '../../src/store/file/stored-pair.ts';
import { RecordedStore } from '../../src/store/log/recorded-store.ts';
import type { Store } from '../../src/store/store.ts';

/** A store in a file, changed as a sandbox does it. */
export interface KeptStore {
  readonly store: RecordedStore;
  /** Keeps what has changed. Undoes it before it rejects. */
  saved(): Promise<void>;
  close(): Promise<void>;
}

export async function openKeptStore(
  path: string,
  initial: Store,
  options?: StoreFileOptions,
): Promise<KeptStore> {
  const { store, log, ...opened } = await openStoreFile(path, initial, options);
  let { position } = opened;
  const saved = async (): Promise<void> => {
    const made = store.take();
    if (made === undefined) return;
    try {
      await log.append(position, [{ store: made.change }]);
      position += 1;
    } catch (error) {
      store.apply(made.inverse);
      throw error;
    }
  };
  return { store, saved, close: () => log.close() };
}

/** The store that a file and its log hold. */
export async function storeIn(path: string): Promise<Store> {
  const pair = await readPair(path);
  if (pair === undefined) throw new Error(`There is no ${path}.`);
  const store = new RecordedStore(pair.store);
  for (const { store: change = {} } of pair.entries) store.apply(change);
  return store;
}
