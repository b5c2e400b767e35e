import { existsSync, lstatSync } from 'node:fs';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { MemoryStorage } from '../../core/sandbox/memory.ts';
import type { State } from '../../core/sandbox/state.ts';
import {
  type JournalContext,
  type OpenedSandbox,
  type SaveScenarios,
  StorageError,
  type Update,
} from '../../core/sandbox/storage.ts';
import { parseFixture } from '../../core/store/fixture.ts';
import type { Store } from '../../core/store/store.ts';
import { createStoreWriter } from '../../core/store/store-text.ts';
import { readTextSync, replaceText, resolveLinks, STORE_LIMIT } from '../files.ts';
import { lockFile } from './file-lock.ts';
import { writeError } from './write-error.ts';

export interface StoreFile {
  readonly store: Store;
  readonly open: (
    sandbox: OpenedSandbox,
    context: JournalContext,
    saveScenarios?: SaveScenarios,
  ) => FileStorage;
  /** Waits for a write under way, and lets other servers have the file. */
  readonly close: () => Promise<void>;
}

/** Writes the file, so that one that cannot be written is refused now. @throws FixtureError, StorageError */
export async function openStoreFile(
  path: string,
  initial: Store,
  notify: (message: string) => void = () => {},
): Promise<StoreFile> {
  const real = locate(path);
  if (existsSync(`${real}.log`)) {
    throw new StorageError(
      `${path}.log holds changes of an older petstore-mock: start and stop that version once, which writes them to ${path}; or delete ${path}.log to drop them`,
    );
  }
  const lockPath = `${real}.lock`;
  if (lstatSync(lockPath, { throwIfNoEntry: false })?.isDirectory() === false) {
    throw new StorageError(`${path}: ${lockPath} is not the lock of a server: delete it`);
  }
  const lock = await lockFile(lockPath, () =>
    notify(`waiting 10 seconds for a sign of life from the server that made ${lockPath}`),
  ).catch((error: unknown) => {
    throw writeError(path, error);
  });
  if (lock === undefined) {
    throw new StorageError(
      `${path} is in use by another server: stop that one, or name another file with --db. If none is running, delete ${lockPath}`,
    );
  }
  try {
    const store = existsSync(real) ? parseFixture(path, readTextSync(real, STORE_LIMIT)) : initial;
    const writeStore = createStoreWriter();
    const write = async (data: Store): Promise<void> => {
      if (lock.isLost()) {
        throw new StorageError(
          `another server may have ${path}, since ${lockPath} was taken or deleted: restart this server`,
        );
      }
      try {
        await replaceText(real, writeStore(data));
      } catch (error) {
        throw writeError(path, error);
      }
    };
    await write(store);
    let opened: FileStorage | undefined;
    return {
      store,
      open: (sandbox, context, saveScenarios) => {
        opened = new FileStorage(sandbox, context, write, saveScenarios);
        return opened;
      },
      close: async () => {
        await opened?.close();
        await lock.release();
      },
    };
  } catch (error) {
    await lock.release();
    throw error;
  }
}

/** A write replaces the file, and must not replace a link to it. */
function locate(path: string): string {
  try {
    return resolveLinks(path);
  } catch (error) {
    throw writeError(path, error);
  }
}

interface WaitingUpdate {
  readonly before: State;
  readonly update: Update;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** How long a write waits for more updates, if the one before it had several. */
const GATHER_MS = 1;

/** Keeps the store of a sandbox in a file. A reply waits until the file has what it shows. */
export class FileStorage extends MemoryStorage {
  override readonly isDurable = true;
  readonly #write: (store: Store) => Promise<void>;
  /** What the last update left, which the file may not have yet. */
  #latest: State;
  #waiting: WaitingUpdate[] = [];
  #batchSize = 0;
  #writing: Promise<void> | undefined;
  #isClosed = false;

  constructor(
    sandbox: OpenedSandbox,
    context: JournalContext,
    write: (store: Store) => Promise<void>,
    saveScenarios?: SaveScenarios,
  ) {
    super(sandbox, context, saveScenarios);
    this.#latest = this.state;
    this.#write = write;
  }

  override update<U extends Update>(run: (state: State) => U): U | Promise<U> {
    const before = this.#latest;
    const update = run(before);
    // While nothing is being written, what leaves the store alone has nothing to wait for.
    const waits = this.#writing !== undefined || update.state.store !== before.store;
    if (waits && this.#isClosed) throw new StorageError('the server has stopped');
    this.saveScenarios(before, update.state);
    this.#latest = update.state;
    if (!waits) {
      this.take(before, update);
      return update;
    }
    return new Promise((resolve, reject) => {
      this.#waiting.push({ before, update, resolve: () => resolve(update), reject });
      this.#writing ??= this.#writeAll();
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#writing;
  }

  async #writeAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      await setImmediate();
      // Where several came, more are on their way: their clients have just got replies.
      if (this.#batchSize > 1) await setTimeout(GATHER_MS);
      const batch = this.#waiting;
      this.#batchSize = batch.length;
      this.#waiting = [];
      const { store } = this.#latest;
      try {
        if (store !== this.state.store) await this.#write(store);
        for (const { before, update, resolve } of batch) {
          this.take(before, update);
          resolve();
        }
      } catch (error) {
        // Also what came since was made of the state that is not saved.
        const refused = [...batch, ...this.#waiting];
        this.#waiting = [];
        const unsaved = this.#latest;
        this.#latest = this.state;
        for (const { reject } of refused) reject(error);
        try {
          this.saveScenarios(unsaved, this.state);
        } catch {
          // Whoever waits has the error of the file already.
        }
      }
    }
    this.#writing = undefined;
  }
}
