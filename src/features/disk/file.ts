import { existsSync, lstatSync } from 'node:fs';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { type Adapter, Low } from 'lowdb';
import { COLLECTIONS, type CollectionName } from '../../core/contract/records.ts';
import { createFileProblem } from '../../core/problems.ts';
import type { Outcome } from '../../core/sandbox/answer.ts';
import type { Sandbox } from '../../core/sandbox/sandbox.ts';
import type { Sandboxes } from '../../core/sandbox/sandboxes.ts';
import { StorageError } from '../../core/sandbox/storage-error.ts';
import { steadyNow } from '../../core/service/clock.ts';
import { FixtureError } from '../../core/store/fixture.ts';
import type { Store } from '../../core/store/store.ts';
import { cachedRecordText } from '../../core/store/store-text.ts';
import { readTextSync, replaceText, resolveLinks, STORE_LIMIT } from '../../server/files.ts';
import { parseFixture } from '../../server/fixtures.ts';
import {
  MemoryPersistence,
  type ScenarioStorage,
  type Storage,
} from '../../server/open-sandboxes.ts';
import { lockFile } from './file-lock.ts';
import { writeError } from './write-error.ts';

/** Writes the file at once, to refuse an unwritable one. @throws FixtureError, StorageError */
export async function openStoreFile(
  path: string,
  initial: Store,
  notify: (message: string) => void = () => {},
): Promise<Storage & { readonly store: Store }> {
  const real = locate(path);
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
    const writeStore = createStoreWriter();
    // lowdb's own adapter for files rounds int64, follows a link in place of its temporary file,
    // and drops the file's mode.
    const adapter: Adapter<Store> = {
      read: async () => {
        if (!existsSync(real)) return null;
        const read = readTextSync(real, STORE_LIMIT);
        if (read.ok) return parseFixture(path, read);
        const expected = 'the file of a store or the name for a new one';
        throw new FixtureError([createFileProblem(`--db ${path}`, expected, read.found)]);
      },
      write: async (data) => {
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
      },
    };
    const file = new Low(adapter, initial);
    await file.read();
    await file.write();
    let opened: FilePersistence | undefined;
    return {
      store: file.data,
      open: (sandboxes, scenarios) => {
        opened = new FilePersistence(sandboxes, file, scenarios);
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

/** Follows a link to the file, so that a write replaces the file and not the link. */
function locate(path: string): string {
  try {
    return resolveLinks(path);
  } catch (error) {
    throw writeError(path, error);
  }
}

interface WaitingCall {
  /** Has the sandbox take the outcome, once its store is in the file. */
  readonly take: () => void;
  readonly reject: (error: unknown) => void;
}

/** How long a write waits for more calls if the one before it had several, in milliseconds. */
const GATHER_MS = 1;

/**
 * Keeps the store of the default sandbox in a file.
 *
 * A call that changes the store waits until the file has the change, and so does any call during a
 * write, since it may show what is not saved yet. Calls build on `sandbox.unsaved` meanwhile, and
 * all that wait share the next write. If a write fails, all of them fail, also those that came
 * later: they build on a state that was never saved.
 */
export class FilePersistence extends MemoryPersistence {
  readonly #sandbox: Sandbox;
  readonly #file: Low<Store>;
  #waiting: WaitingCall[] = [];
  #batchSize = 0;
  #writing: Promise<void> | undefined;
  #isClosed = false;

  constructor(sandboxes: Sandboxes, file: Low<Store>, scenarios?: ScenarioStorage) {
    super(sandboxes, scenarios);
    this.#sandbox = sandboxes.default;
    this.#file = file;
  }

  override keepAtOnce<T>(sandbox: Sandbox, compute: () => Outcome<T>): T | Promise<T> {
    if (sandbox !== this.#sandbox) return super.keepAtOnce(sandbox, compute);
    const outcome = compute();
    const { before, state } = outcome;
    const waits = this.#writing !== undefined || state.store !== before.store;
    if (waits && this.#isClosed) throw new StorageError('the server has stopped');
    this.saveScenarios(sandbox, before, state);
    if (!waits) return sandbox.take(outcome);
    sandbox.unsaved = state;
    const since = steadyNow();
    return new Promise((resolve, reject) => {
      this.#waiting.push({
        take: () => resolve(sandbox.take(outcome, steadyNow() - since)),
        reject,
      });
      this.#writing ??= this.#writeAll();
    });
  }

  override isDurable(sandbox: Sandbox): boolean {
    return sandbox === this.#sandbox;
  }

  /** Waits for the write under way. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#writing;
  }

  async #writeAll(): Promise<void> {
    const sandbox = this.#sandbox;
    while (this.#waiting.length > 0) {
      await setImmediate();
      // After a batch of several calls, their clients have just got replies, and soon send more.
      if (this.#batchSize > 1) await setTimeout(GATHER_MS);
      const batch = this.#waiting;
      this.#batchSize = batch.length;
      this.#waiting = [];
      const { store } = sandbox.unsaved ?? sandbox.state;
      try {
        if (store !== sandbox.state.store) {
          this.#file.data = store;
          await this.#file.write();
        }
        for (const { take } of batch) take();
        if (this.#waiting.length === 0) sandbox.unsaved = undefined;
      } catch (error) {
        // Calls that came during the write build on the unsaved state, so they fail, too.
        const refused = [...batch, ...this.#waiting];
        this.#waiting = [];
        const unsaved = sandbox.unsaved ?? sandbox.state;
        sandbox.unsaved = undefined;
        for (const { reject } of refused) reject(error);
        try {
          this.saveScenarios(sandbox, unsaved, sandbox.state);
        } catch {
          // The calls already fail with the error of the file.
        }
      }
    }
    this.#writing = undefined;
  }
}

/** Writes stores like `storeText`, but writes unchanged collections only once. */
export function createStoreWriter(): (store: Store) => string {
  const written = new Map<CollectionName, { of: object; text: string }>();
  return (store) => {
    const members = COLLECTIONS.map((name) => {
      const records = store[name];
      const last = written.get(name);
      if (last?.of === records) return last.text;
      const lines = Array.from<object, string>(records.ascending(), cachedRecordText);
      const list = lines.length === 0 ? '[]' : `[\n    ${lines.join(',\n    ')}\n  ]`;
      const text = `\n  "${name}": ${list}`;
      written.set(name, { of: records, text });
      return text;
    });
    return `{${members}\n}\n`;
  };
}
