import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { INT64_MAX } from '../../src/contract/int64.ts';
import {
  type OpenStoreFile,
  openStoreFile,
  StoreFileError,
} from '../../src/store/file/store-file.ts';
import { FixtureError, loadFixture } from '../../src/store/fixture/load-fixture.ts';
import { createStore, type Store } from '../../src/store/store.ts';

let folder = '';
const opened: OpenStoreFile[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'store-file-'));
});

afterEach(async () => {
  for (const file of opened.splice(0)) await file.close();
  rmSync(folder, { recursive: true, force: true });
});

const initial = (): Store => createStore(loadFixture('default'));

async function openFile(path: string, fallback = initial): Promise<OpenStoreFile> {
  const file = await openStoreFile(path, fallback);
  opened.push(file);
  return file;
}

/** The ids of the animals that a file holds. */
function idsIn(path: string): bigint[] {
  return [...createStore(loadFixture(path)).animals.ascending()].map(({ id }) => id);
}

function add(store: Store, id: bigint): void {
  store.animals.set({ id, name: `Animal ${id}`, categoryId: INT64_MAX });
}

describe('the file of a store', () => {
  test('is made at once, and holds every change when it is saved', async () => {
    const path = join(folder, 'db.json');
    const { store, saved, close } = await openFile(path);
    expect(idsIn(path)).toHaveLength(64);
    add(store, INT64_MAX);
    store.orders.delete(1n);
    await saved();
    await close();
    const again = await openFile(path, () => expect.unreachable());
    expect(again.store.animals.get(INT64_MAX)).toEqual({
      id: INT64_MAX,
      name: `Animal ${INT64_MAX}`,
      categoryId: INT64_MAX,
    });
    expect(again.store.orders.has(1n)).toBe(false);
  });

  test('is not written where nothing has changed', async () => {
    const path = join(folder, 'db.json');
    const { saved } = await openFile(path);
    const { ino } = statSync(path);
    await saved();
    expect(statSync(path).ino).toBe(ino);
  });

  test('is written once for all changes that come together', async () => {
    const path = join(folder, 'db.json');
    const { store, saved } = await openFile(path);
    const ends: Promise<void>[] = [];
    for (let id = 1000n; id < 1100n; id += 1n) {
      add(store, id);
      ends.push(saved());
    }
    expect(new Set(ends).size).toBe(1);
    await Promise.all(ends);
    expect(idsIn(path)).toHaveLength(164);
  });

  test('is written once more for all changes that come while a write is under way', async () => {
    const path = join(folder, 'db.json');
    const { store, saved } = await openFile(path);
    add(store, 1000n);
    const first = saved();
    await setImmediate();
    const ends: Promise<void>[] = [];
    for (let id = 1001n; id < 1100n; id += 1n) {
      add(store, id);
      ends.push(saved());
    }
    expect(new Set([first, ...ends]).size).toBe(2);
    await first;
    expect(idsIn(path)).toHaveLength(65);
    await Promise.all(ends);
    expect(idsIn(path)).toHaveLength(164);
  });

  test('is replaced where a link leads, and the link stays', async () => {
    const path = join(folder, 'link.json');
    const target = join(folder, 'target.json');
    const { close } = await openFile(target);
    await close();
    symlinkSync(target, path);
    const { store, saved } = await openFile(path);
    add(store, 1000n);
    await saved();
    expect(idsIn(target)).toContain(1000n);
    expect(readdirSync(folder).sort()).toEqual(['link.json', 'target.json', 'target.json.lock']);
  });

  test('that is broken stops the start, and is left as it is', async () => {
    const path = join(folder, 'db.json');
    writeFileSync(path, '{"animals": [{}]}');
    await expect(openStoreFile(path, initial)).rejects.toThrow(FixtureError);
    expect(readFileSync(path, 'utf8')).toBe('{"animals": [{}]}');
    expect(existsSync(`${path}.lock`)).toBe(false);
  });

  test('leaves nothing behind that a killed server had half written', async () => {
    const path = join(folder, 'db.json');
    writeFileSync(`${path}.123.draft`, '{"anim');
    const { close } = await openFile(path);
    await close();
    expect(readdirSync(folder)).toEqual(['db.json']);
  });
});

describe('a file that cannot be written', () => {
  test('is told of with the reason', async () => {
    const path = join(folder, 'nowhere', 'db.json');
    await expect(openStoreFile(path, initial)).rejects.toThrow(
      `${path}: its folder does not exist (ENOENT)`,
    );
    await expect(openStoreFile(folder, initial)).rejects.toThrow();
  });

  test('takes every unsaved change with it, and later ones are saved again', async () => {
    const inside = join(folder, 'inside');
    mkdirSync(inside);
    const path = join(inside, 'db.json');
    const { store, saved } = await openFile(path);
    add(store, 1000n);
    await saved();
    rmSync(inside, { recursive: true });
    add(store, 1001n);
    const first = saved();
    add(store, 1002n);
    const second = saved();
    await expect(first).rejects.toThrow(StoreFileError);
    await expect(second).rejects.toThrow(StoreFileError);
    expect(store.animals.has(1000n)).toBe(true);
    expect(store.animals.has(1001n)).toBe(false);
    expect(store.animals.has(1002n)).toBe(false);
    mkdirSync(inside);
    add(store, 1003n);
    await saved();
    expect(idsIn(path).slice(-2)).toEqual([1000n, 1003n]);
  });

  test('leaves store and file the same, whatever fails when', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ add: fc.integer({ min: 100, max: 120 }), fails: fc.boolean() }), {
          maxLength: 12,
        }),
        async (steps) => {
          const inside = mkdtempSync(join(folder, 'run-'));
          const path = join(inside, 'db.json');
          const { store, saved, close } = await openStoreFile(path, initial);
          // A folder in the draft's place cannot be written to.
          const obstacle = `${path}.${process.pid}.draft`;
          for (const { add: id, fails } of steps) {
            if (fails) mkdirSync(obstacle, { recursive: true });
            add(store, BigInt(id));
            await saved().catch((error: unknown) => expect(error).toBeInstanceOf(StoreFileError));
            rmSync(obstacle, { recursive: true, force: true });
            expect(idsIn(path)).toEqual([...store.animals.ascending()].map((it) => it.id));
          }
          await close();
        },
      ),
      { numRuns: 20 },
    );
  });
});

describe('the lock', () => {
  test('keeps a second server from the same file, and says who has it', async () => {
    const path = join(folder, 'db.json');
    const { close } = await openFile(path);
    await expect(openStoreFile(path, initial)).rejects.toThrow(
      `${path} is kept by another server, process ${process.pid} on ${hostname()}`,
    );
    await close();
    await openFile(path);
  });

  test('of a process that runs is respected, and one of a process that ended is taken', async () => {
    const path = join(folder, 'db.json');
    const holder = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
    await once(holder, 'spawn');
    const lock = { pid: holder.pid, host: hostname(), id: 'x' };
    writeFileSync(`${path}.lock`, JSON.stringify(lock));
    await expect(openStoreFile(path, initial)).rejects.toThrow(`process ${holder.pid}`);
    holder.kill('SIGKILL');
    await once(holder, 'exit');
    await openFile(path);
  });

  test.each([
    ['its own process, which does not hold it', { pid: process.pid, host: hostname(), id: 'x' }],
    ['nobody that can be read', 'broken'],
  ])('of %s is a leftover', async (_whose, lock) => {
    const path = join(folder, 'db.json');
    writeFileSync(`${path}.lock`, typeof lock === 'string' ? lock : JSON.stringify(lock));
    await openFile(path);
  });

  test('of another machine is respected while it is fresh', async () => {
    const path = join(folder, 'db.json');
    const lock = `${path}.lock`;
    writeFileSync(lock, JSON.stringify({ pid: 1, host: 'elsewhere.example', id: 'x' }));
    await expect(openStoreFile(path, initial)).rejects.toThrow('on elsewhere.example');
    execFileSync('touch', ['-d', '1 minute ago', lock]);
    await openFile(path);
  });
});
