import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { createInterface } from 'node:readline';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { INT64_MAX } from '../../src/contract/int64.ts';
import { packageRoot } from '../../src/package.ts';
import { thisProcess } from '../../src/store/file/file-lock.ts';
import type { StoreFileOptions } from '../../src/store/file/store-file.ts';
import { generateStore } from '../../src/store/fixture/generate-store.ts';
import { loadFixtureSync } from '../../src/store/fixture/load-fixture.ts';
import { FixtureError } from '../../src/store/fixture/parse-fixture.ts';
import { LogError } from '../../src/store/log/change-log.ts';
import { mergeInto } from '../../src/store/merge.ts';
import { createStore, type Store } from '../../src/store/store.ts';
import { CONTAINER } from '../helpers/container.ts';
import { type KeptStore, openKeptStore, storeIn } from '../helpers/kept-store.ts';

let folder = '';
const opened: KeptStore[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'store-file-'));
});

afterEach(async () => {
  for (const file of opened.splice(0)) await file.close();
  rmSync(folder, { recursive: true, force: true });
});

const initial = (): Store => loadFixtureSync('default');

async function openFile(path: string, options?: StoreFileOptions): Promise<KeptStore> {
  const file = await openKeptStore(path, initial(), options);
  opened.push(file);
  return file;
}

/** The ids of the animals that a file and its log hold. */
async function idsIn(path: string): Promise<bigint[]> {
  return [...(await storeIn(path)).animals.ascending()].map(({ id }) => id);
}

function add(store: Store, id: bigint): void {
  store.animals.set({ id, name: `Animal ${id}`, categoryId: INT64_MAX });
}

/** How another process holds a file: see the script. */
const HOLD = ['--import', 'tsx', join(packageRoot, 'test/helpers/hold-file.ts')];

describe('the file of a store', () => {
  test('is created at once, and contains every change that was saved', async () => {
    const path = join(folder, 'db.json');
    const { store, saved, close } = await openFile(path);
    expect(await idsIn(path)).toHaveLength(64);
    add(store, INT64_MAX);
    store.orders.delete(1n);
    await saved();
    await close();
    const again = await openFile(path);
    expect(again.store.animals.get(INT64_MAX)).toEqual({
      id: INT64_MAX,
      name: `Animal ${INT64_MAX}`,
      categoryId: INT64_MAX,
    });
    expect(again.store.orders.has(1n)).toBe(false);
  });

  test('contains the changes of `each`, even if they are applied on reading', async () => {
    const path = join(folder, 'db.json');
    const store = createStore(await generateStore({ animals: 0, orders: 5000, seed: 1 }));
    const nothing = { remove: [], each: [], set: [] };
    const each = [{ where: new Map(), change: { status: 'shipped' } }];
    const changes = { animals: nothing, inventory: nothing, orders: { ...nothing, each } };
    expect(mergeInto(store, changes)).toEqual([]);
    const { close } = await openKeptStore(path, store);
    await close();
    const { orders } = loadFixtureSync(path);
    expect(orders.size).toBe(5000);
    for (const { status } of orders.ascending()) expect(status).toBe('shipped');
  });

  test('is not written if nothing changed', async () => {
    const path = join(folder, 'db.json');
    const { saved } = await openFile(path);
    const { ino } = statSync(path);
    await saved();
    expect(statSync(path).ino).toBe(ino);
  });

  test('is replaced behind a link, which stays', async () => {
    const path = join(folder, 'link.json');
    const target = join(folder, 'target.json');
    const { close } = await openFile(target);
    await close();
    symlinkSync(target, path);
    const { store, saved, close: closeAgain } = await openFile(path);
    add(store, 1000n);
    await saved();
    expect(await idsIn(target)).toContain(1000n);
    await closeAgain();
    expect(loadFixtureSync(target).animals.has(1000n)).toBe(true);
    expect(readdirSync(folder).sort()).toEqual(['link.json', 'target.json']);
  });

  test('is created where a link points to', async () => {
    const [path, inside] = [join(folder, 'link.json'), join(folder, 'inside')];
    mkdirSync(inside);
    symlinkSync(join('inside', 'db.json'), path);
    const { close } = await openFile(path);
    await close();
    expect(readdirSync(inside)).toEqual(['db.json']);
    expect(readdirSync(folder).sort()).toEqual(['inside', 'link.json']);
  });

  test('stops the start if it is broken, and stays as it is', async () => {
    const path = join(folder, 'db.json');
    writeFileSync(path, '{"animals": [{}]}');
    await expect(openKeptStore(path, initial())).rejects.toThrow(FixtureError);
    expect(readFileSync(path, 'utf8')).toBe('{"animals": [{}]}');
    expect(existsSync(`${path}.lock`)).toBe(false);
  });

  test('is cleared of the drafts of killed servers, but of no file of the user', async () => {
    const path = join(folder, 'db.json');
    for (const end of ['', '.log'])
      writeFileSync(`${path}${end}.${crypto.randomUUID()}.draft`, '{');
    const own = ['2026-11-22.draft', '123.draft', 'log.2.draft', 'lock.2026'];
    for (const ending of own) writeFileSync(`${path}.${ending}`, '{"animals": []}');
    const [left, inUse] = [1, 2].map(() => `${path}.lock.${crypto.randomUUID()}`);
    for (const lock of [left, inUse]) writeFileSync(String(lock), '{"pid":1}');
    for (const old of [left, `${path}.lock.2026`]) utimesSync(String(old), 0, 0);
    const { close } = await openFile(path);
    await close();
    const kept = ['db.json', ...own.map((ending) => `db.json.${ending}`), basename(String(inUse))];
    expect(readdirSync(folder).sort()).toEqual(kept.sort());
  });
});

describe('a file that cannot be written', () => {
  test('is reported with the reason', async () => {
    const path = join(folder, 'nowhere', 'db.json');
    await expect(openKeptStore(path, initial())).rejects.toThrow(
      `${path}: its folder does not exist (ENOENT)`,
    );
    await expect(openKeptStore(folder, initial())).rejects.toThrow();
  });

  test('undoes every unsaved change, and later changes are saved again', async () => {
    const inside = join(folder, 'inside');
    mkdirSync(inside);
    const path = join(inside, 'db.json');
    const { store, saved } = await openFile(path);
    add(store, 1000n);
    await saved();
    rmSync(inside, { recursive: true });
    add(store, 1001n);
    await expect(saved()).rejects.toThrow(LogError);
    add(store, 1002n);
    await expect(saved()).rejects.toThrow(LogError);
    expect(store.animals.has(1000n)).toBe(true);
    expect(store.animals.has(1001n)).toBe(false);
    expect(store.animals.has(1002n)).toBe(false);
    mkdirSync(inside);
    add(store, 1003n);
    await saved();
    expect((await idsIn(path)).slice(-2)).toEqual([1000n, 1003n]);
  });

  test('leaves store and file equal after any failure', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ add: fc.integer({ min: 100, max: 120 }), fails: fc.boolean() }), {
          maxLength: 12,
        }),
        async (steps) => {
          const inside = mkdtempSync(join(folder, 'run-'));
          const path = join(inside, 'db.json');
          const { store, saved, close } = await openKeptStore(path, initial());
          const aside = `${path}.aside`;
          for (const { add: id, fails } of steps) {
            add(store, BigInt(id));
            if (fails) {
              // A folder in the file's place cannot be replaced.
              renameSync(path, aside);
              mkdirSync(path);
            }
            await saved().catch((error: unknown) => expect(error).toBeInstanceOf(LogError));
            if (fails) {
              rmdirSync(path);
              renameSync(aside, path);
            }
            expect(await idsIn(path)).toEqual([...store.animals.ascending()].map((it) => it.id));
          }
          await close();
        },
      ),
      { numRuns: 20 },
    );
  });
});

describe('the lock', () => {
  /** A process that has the same id and host name as one in another container. */
  const ours = { ...CONTAINER, system: 'ours' };
  const theirs = { ...CONTAINER, system: 'theirs' };
  const patience = 300;

  test('refuses a second server and names the holder', async () => {
    const path = join(folder, 'db.json');
    const { close } = await openFile(path);
    await expect(openKeptStore(path, initial())).rejects.toThrow(
      new RegExp(
        `^${path} is in use by another server \\(process ${process.pid} on ${hostname()}, since \\S+Z\\); `,
      ),
    );
    await close();
    await openFile(path);
  });

  test('refuses a second server with the same process id and host name', async () => {
    const path = join(folder, 'db.json');
    await openFile(path, { self: theirs, patience });
    await expect(openKeptStore(path, initial(), { self: ours, patience })).rejects.toThrow(
      'process 1 on petstore-mock, since',
    );
  });

  test.runIf(process.platform === 'linux')(
    'of a process on this machine is valid while it runs',
    async () => {
      const path = join(folder, 'db.json');
      const holder = spawn(process.execPath, [...HOLD, path, String(patience), 'here']);
      await once(holder.stdout, 'data');
      await expect(openKeptStore(path, initial())).rejects.toThrow(`process ${holder.pid}`);
      holder.kill('SIGKILL');
      await once(holder, 'exit');
      // Not after the usual patience, which is longer than this test may take.
      await openFile(path, { patience: 3_600_000 });
    },
  );

  test.runIf(process.platform === 'linux')(
    'of an ended process is taken over even if its id was reused',
    async () => {
      const path = join(folder, 'db.json');
      const lock = { ...thisProcess(), id: 'x', began: '1' };
      writeFileSync(`${path}.lock`, JSON.stringify(lock));
      await openFile(path, { patience: 3_600_000 });
    },
  );

  test.each([
    ['of an older version', JSON.stringify({ pid: process.pid, host: hostname(), id: 'x' })],
    ['that cannot be read', 'broken'],
  ])('%s is taken over without a heartbeat', async (_whose, lock) => {
    const path = join(folder, 'db.json');
    writeFileSync(`${path}.lock`, lock);
    await openFile(path, { patience });
  });

  test('is created again after its file was deleted, and refuses a second server', async () => {
    const path = join(folder, 'db.json');
    const { store, saved } = await openFile(path, { self: theirs, patience });
    rmSync(`${path}.lock`);
    add(store, 1000n);
    await saved();
    await expect(openKeptStore(path, initial(), { self: ours, patience })).rejects.toThrow('since');
    expect(await idsIn(path)).toContain(1000n);
  });

  test.each(['still has the file', 'has released the file'])(
    'is lost if its file was deleted and a second server %s',
    async (state) => {
      const path = join(folder, 'db.json');
      const onNotice = vi.fn();
      const first = await openFile(path, { self: theirs, patience: 3_600_000, onNotice });
      rmSync(`${path}.lock`);
      const second = await openKeptStore(path, initial(), { self: ours });
      add(second.store, 1001n);
      await second.saved();
      if (state === 'has released the file') await second.close();
      for (const id of [1002n, 1003n]) {
        add(first.store, id);
        await expect(first.saved()).rejects.toThrow(`${path}: another server has taken the file`);
        expect(first.store.animals.has(id)).toBe(false);
      }
      expect(onNotice).toHaveBeenCalledOnce();
      expect((await idsIn(path)).slice(-1)).toEqual([1001n]);
      await first.close();
      expect(existsSync(`${path}.lock`)).toBe(state === 'still has the file');
      await second.close();
    },
  );

  test('of a paused server is taken over; after it resumes, that server saves nothing', async () => {
    const path = join(folder, 'db.json');
    const holder = spawn(process.execPath, [...HOLD, path, String(patience)]);
    const lines = createInterface(holder.stdout)[Symbol.asyncIterator]();
    const nextLine = async () => (await lines.next()).value;
    expect(await nextLine()).toBe('held');
    holder.stdin.write('1000\n');
    expect(await nextLine()).toBe('saved');
    holder.kill('SIGSTOP');
    const { store, saved } = await openFile(path, { self: ours, patience });
    expect(store.orders.has(1000n)).toBe(true);
    store.orders.set({ id: 1001n });
    await saved();
    let warned = '';
    holder.stderr.on('data', (text) => {
      warned += text;
    });
    holder.kill('SIGCONT');
    holder.stdin.end('1002\n1003\n');
    expect(await nextLine()).toContain('another server has taken the file');
    expect(await nextLine()).toContain('another server has taken the file');
    await once(holder, 'close');
    expect(warned.match(/it saves no more changes/g)).toHaveLength(1);
    const { orders } = await storeIn(path);
    expect([1000n, 1001n, 1002n].map((id) => orders.has(id))).toEqual([true, true, false]);
  });

  test('refuses a file with two names', async () => {
    const [path, other] = [join(folder, 'db.json'), join(folder, 'other.json')];
    const { close } = await openFile(path);
    await close();
    linkSync(path, other);
    for (const name of [path, other]) {
      await expect(openKeptStore(name, initial())).rejects.toThrow(`${name}: it has 2 names`);
    }
  });
});
