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

/** Writes the file, so that one that cannot be written is refused now. @throws FixtureError, StorageError */
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
    // Of our own: lowdb's adapter for files rounds int64, follows a link in place of its temporary
    // file, and drops the mode.
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

/** A write replaces the file, and must not replace a link to it. */
function locate(path: string): string {
  try {
    return resolveLinks(path);
  } catch (error) {
    throw writeError(path, error);
  }
}

interface WaitingCall {
  /** Before its store is written. */
  readonly take: () => void;
  readonly reject: (error: unknown) => void;
}

/** How long a write waits for more calls, if the one before it had several. */
const GATHER_MS = 1;

/** Keeps the store of the default sandbox in a file. A reply waits until the file has what it shows. */
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
    // While nothing is being written, what leaves the store alone has nothing to wait for.
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

  /** Waits for what is under way. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#writing;
  }

  async #writeAll(): Promise<void> {
    const sandbox = this.#sandbox;
    while (this.#waiting.length > 0) {
      await setImmediate();
      // Where several came, more are on their way: their clients have just got replies.
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
        // Also what came since was made of the state that is not saved.
        const refused = [...batch, ...this.#waiting];
        this.#waiting = [];
        const unsaved = sandbox.unsaved ?? sandbox.state;
        sandbox.unsaved = undefined;
        for (const { reject } of refused) reject(error);
        try {
          this.saveScenarios(sandbox, unsaved, sandbox.state);
        } catch {
          // Whoever waits has the error of the file already.
        }
      }
    }
    this.#writing = undefined;
  }
}

/** Writes stores as `storeText` does; collections that did not change, only once. */
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
