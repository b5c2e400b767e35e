import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { OpenStoreFile } from '../../src/store/file/store-file.ts';
import type { Store } from '../../src/store/store.ts';

const disk = vi.hoisted(() => ({
  room: Number.POSITIVE_INFINITY,
  isReadOnly: false,
  /** A file that is mounted, as containers do. */
  mounted: '',
}));

vi.mock('node:fs', async (importOriginal) => {
  const fs = await importOriginal<typeof import('node:fs')>();
  const { promisify } = await import('node:util');
  const write = promisify(fs.write);
  /** Writes as a disk does that gets full: first a part, then nothing. */
  const writeOnDisk = async (
    descriptor: number,
    bytes: Buffer,
    ...[offset = 0, length, at]: (number | undefined)[]
  ) => {
    const most = Math.min(length ?? bytes.length - offset, disk.room);
    if (most === 0) throw Object.assign(new Error('no space'), { code: 'ENOSPC' });
    disk.room -= most;
    return write(descriptor, bytes, offset, most, at ?? null);
  };
  return {
    ...fs,
    write: Object.assign(() => {}, { [promisify.custom]: writeOnDisk }),
    accessSync: () => {
      if (disk.isReadOnly) throw Object.assign(new Error('read-only'), { code: 'EACCES' });
    },
    readFileSync: (...args: Parameters<typeof fs.readFileSync>) =>
      args[0] === '/proc/self/mountinfo'
        ? `51 20 8:1 / ${disk.mounted} rw - ext4 /dev/vda1 rw\n`
        : fs.readFileSync(...args),
  };
});

// Another test of this process may have loaded these modules with the real disk; the next one must not
// get them with this one.
vi.resetModules();
const { fingerprintOf } = await import('../../src/store/file/fingerprint.ts');
const { markLine } = await import('../../src/store/file/log-lines.ts');
const { openStoreFile } = await import('../../src/store/file/store-file.ts');
const { createStore, forkStore, restoreStore, storeBaseOf } = await import(
  '../../src/store/store.ts'
);
afterAll(() => {
  vi.doUnmock('node:fs');
  vi.resetModules();
});

let folder = '';
let path = '';
let logPath = '';
const opened: OpenStoreFile[] = [];
const notices: string[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'file-log-'));
  path = join(folder, 'db.json');
  logPath = `${path}.log`;
});

afterEach(async () => {
  Object.assign(disk, { room: Number.POSITIVE_INFINITY, isReadOnly: false, mounted: '' });
  for (const { log } of opened.splice(0)) await log.close();
  notices.length = 0;
  rmSync(folder, { recursive: true });
});

const NO_ANIMALS = createStore(storeBaseOf({ animals: [], inventory: [], orders: [] }));

async function open(): Promise<OpenStoreFile> {
  const options = { onNotice: (notice: string) => notices.push(notice) };
  const file = await openStoreFile(path, NO_ANIMALS, options);
  opened.push(file);
  return file;
}

/** Adds animals, each with a change of its own. Undoes those that are not kept. */
async function add(file: OpenStoreFile, ids: readonly number[], start = 0): Promise<void> {
  for (const [index, id] of ids.entries()) {
    file.store.animals.set({ id: BigInt(id), name: `Animal ${id}`, categoryId: 2n ** 63n - 1n });
    const made = file.store.take();
    try {
      await file.log.append(start + index, [{ store: made?.change }]);
    } catch (error) {
      file.store.apply(made?.inverse ?? {});
      throw error;
    }
  }
}

/** Replaces the records by so many that the whole file is written. */
function addMany(store: Store): void {
  const animals = Array.from({ length: 20_001 }, (_, id) => ({
    id: BigInt(id),
    name: 'Rex',
    categoryId: 1n,
  }));
  restoreStore(store, createStore(storeBaseOf({ animals, inventory: [], orders: [] })));
}

const idsOf = ({ animals }: Store) => [...animals.ascending()].map(({ id }) => Number(id));

/** Ends a server as a kill does: file and log stay as they are. */
async function kill(file: OpenStoreFile): Promise<void> {
  const [store, log] = [readFileSync(path), readFileSync(logPath)];
  opened.splice(opened.indexOf(file), 1);
  await file.log.close();
  writeFileSync(path, store);
  writeFileSync(logPath, log);
}

async function killedAfter(...ids: number[]): Promise<void> {
  const file = await open();
  await add(file, ids);
  await kill(file);
}

describe('a log beside a file', () => {
  test('has the changes since the file, and is folded into it at the end', async () => {
    await killedAfter(1, 2, 3);
    expect(readFileSync(path, 'utf8')).not.toContain('Animal');
    const file = await open();
    expect(idsOf(file.store)).toEqual([1, 2, 3]);
    expect(file.store.animals.get(1n)?.categoryId).toBe(2n ** 63n - 1n);
    expect(notices).toEqual([]);
    await file.log.close();
    expect(readdirSync(folder)).toEqual(['db.json']);
    expect(readFileSync(path, 'utf8').match(/Animal/g)).toHaveLength(3);
    expect(idsOf((await open()).store)).toEqual([1, 2, 3]);
  });

  test('loses a torn end, and says how much', async () => {
    await killedAfter(1, 2, 3);
    const [whole, content] = [readFileSync(logPath), readFileSync(path)];
    const last = whole.lastIndexOf('\n', whole.length - 2) + 1;
    for (let size = last + 1; size < whole.length; size += 37) {
      writeFileSync(path, content);
      writeFileSync(logPath, whole.subarray(0, size));
      const file = await open();
      expect(idsOf(file.store)).toEqual([1, 2]);
      expect(notices.splice(0)).toEqual([
        `${logPath}: the last line was damaged or cut; it is left out (${size - last} bytes)`,
      ]);
      await add(file, [4], 2);
      await kill(file);
      const again = await open();
      expect(idsOf(again.store)).toEqual([1, 2, 4]);
      await again.log.close();
    }
  });

  test('loses the end of a line whose blocks arrived in another order', async () => {
    await killedAfter(1, 2);
    const whole = readFileSync(logPath);
    writeFileSync(
      logPath,
      Buffer.concat([whole.subarray(0, -20), Buffer.alloc(18), whole.subarray(-2)]),
    );
    expect(idsOf((await open()).store)).toEqual([1]);
  });

  test('stops the start with the place if it is damaged in the middle', async () => {
    await killedAfter(1, 2, 3);
    const whole = readFileSync(logPath);
    const lines = whole.toString('latin1').split('\n');
    let offset = 0;
    for (const [index, line] of lines.slice(0, -2).entries()) {
      for (const at of [0, line.length - 1, line.length]) {
        const damaged = Buffer.from(whole);
        damaged[offset + at] = (damaged[offset + at] ?? 0) ^ 1;
        writeFileSync(logPath, damaged);
        await expect(open()).rejects.toThrow(
          `${logPath}:${index + 1}: damaged at byte ${offset}: `,
        );
        expect(readFileSync(logPath)).toEqual(damaged);
      }
      offset += line.length + 1;
    }
  });

  test('stops the start if a line is missing', async () => {
    await killedAfter(1, 2, 3);
    const lines = readFileSync(logPath, 'utf8').split('\n');
    writeFileSync(logPath, lines.toSpliced(2, 1).join('\n'));
    await expect(open()).rejects.toThrow(':3: damaged at byte');
  });

  test('stops the start if it lacks a change that only a later file has', async () => {
    const file = await open();
    await add(file, [1]);
    const former = readFileSync(path);
    addMany(file.store);
    await file.log.append(1, [{ store: file.store.take()?.change }]);
    await add(file, [30_001], 2);
    await kill(file);
    writeFileSync(path, former);
    await expect(open()).rejects.toThrow('expected change 2, found 3');
  });

  test('tells of a file that is older than the one it was folded into', async () => {
    const file = await open();
    const former = readFileSync(path);
    await add(file, [1]);
    await file.log.fold(1, { store: forkStore(file.store) });
    await kill(file);
    writeFileSync(path, former);
    expect(idsOf((await open()).store)).toEqual([]);
    expect(notices).toEqual([expect.stringContaining('older than what')]);
  });

  test('is whole after a large change that was cut off before it was in the file', async () => {
    await killedAfter(1);
    const [former, log] = [readFileSync(path), readFileSync(logPath)];
    const file = await open();
    addMany(file.store);
    await file.log.append(1, [{ store: file.store.take()?.change }]);
    await kill(file);
    writeFileSync(path, former);
    const mark = readFileSync(logPath).subarray(log.length);
    expect(mark.toString()).toContain('"at":2}');
    const again = await open();
    await add(again, [3], 1);
    await kill(again);
    expect(idsOf((await open()).store)).toEqual([1, 3]);
  });

  test('stops the start if the file was edited, and says what to do', async () => {
    await killedAfter(1, 2);
    const former = readFileSync(path, 'utf8');
    writeFileSync(path, '{"animals": [{"id": 9, "name": "Max", "categoryId": 1}]}');
    await expect(open()).rejects.toThrow(
      `${path} was edited, but ${logPath} holds 2 changes to its former content; to use the edited file without them, delete ${logPath}; to keep them, restore the file`,
    );
    writeFileSync(path, former);
    expect(idsOf((await open()).store)).toEqual([1, 2]);
  });

  test('can be deleted to use an edited file', async () => {
    await killedAfter(1);
    writeFileSync(path, '{"animals": [{"id": 9, "name": "Max", "categoryId": 1}]}');
    rmSync(logPath);
    expect(idsOf((await open()).store)).toEqual([9]);
  });

  test('stops the start if the file is missing', async () => {
    await killedAfter(1);
    rmSync(path);
    await expect(open()).rejects.toThrow(`${path} is missing, but ${logPath} holds 1 change to it`);
  });

  test('with the file holds the whole state at every step of a fold', async () => {
    const file = await open();
    await add(file, [1, 2]);
    const before = [readFileSync(path), readFileSync(logPath)] as const;
    const folding = file.log.fold(2, { store: forkStore(file.store) });
    await add(file, [3], 2);
    await folding;
    await add(file, [4], 3);
    const after = [readFileSync(path), readFileSync(logPath)] as const;
    const mark = markLine({ file: await fingerprintOf(path), at: 2 });
    await kill(file);
    expect(after[1].toString().match(/Animal \d/g)).toEqual(['Animal 3', 'Animal 4']);
    const steps: [file: Buffer, log: Buffer, ids: number[]][] = [
      [before[0], before[1], [1, 2]],
      [before[0], Buffer.concat([before[1], mark]), [1, 2]],
      [after[0], Buffer.concat([before[1], mark]), [1, 2]],
      [after[0], after[1], [1, 2, 3, 4]],
    ];
    for (const [content, log, ids] of steps) {
      writeFileSync(path, content);
      writeFileSync(logPath, log);
      const opening = await open();
      expect(idsOf(opening.store)).toEqual(ids);
      await opening.log.close();
    }
  });

  test('is not needed for a change of very many records, which rewrites the file', async () => {
    const file = await open();
    await add(file, [1]);
    addMany(file.store);
    await file.log.append(1, [{ store: file.store.take()?.change }]);
    await add(file, [30_001], 2);
    expect(readFileSync(logPath).length).toBeLessThan(1000);
    await kill(file);
    expect(idsOf((await open()).store)).toHaveLength(20_002);
  });
});

describe('a change', () => {
  test('is refused if the disk is full, and the next one is kept when there is room again', async () => {
    const file = await open();
    await add(file, [1]);
    const size = readFileSync(logPath).length;
    for (const room of [0, 1, 50]) {
      disk.room = room;
      await expect(add(file, [2], 1)).rejects.toThrow(`${path}: the disk is full (ENOSPC)`);
      expect(readFileSync(logPath)).toHaveLength(size);
    }
    disk.room = Number.POSITIVE_INFINITY;
    await add(file, [3], 1);
    await kill(file);
    expect(idsOf((await open()).store)).toEqual([1, 3]);
  });

  test('leaves no draft on a full disk, even if it is the first one', async () => {
    const file = await open();
    disk.room = 100;
    await expect(add(file, [1])).rejects.toThrow('the disk is full');
    expect(readdirSync(folder).sort()).toEqual(['db.json', 'db.json.lock']);
  });

  test('is refused while the file is read-only, and kept when it is not any more', async () => {
    const file = await open();
    disk.isReadOnly = true;
    await expect(add(file, [1])).rejects.toThrow(`${path}: permission denied (EACCES)`);
    disk.isReadOnly = false;
    await add(file, [2]);
    expect(idsOf(file.store)).toEqual([2]);
  });

  test('is refused after the file was edited, and the edit stays', async () => {
    const file = await open();
    await add(file, [1]);
    copyFileSync(path, `${path}.copy`);
    const edited = '{"animals": []}';
    writeFileSync(path, edited);
    await expect(add(file, [2], 1)).rejects.toThrow(`${path} was edited while the server uses it`);
    await file.log.close();
    expect(readFileSync(path, 'utf8')).toBe(edited);
    expect(notices).toEqual([expect.stringContaining(`the latest changes are in ${logPath}`)]);
    await expect(open()).rejects.toThrow('was edited');
    copyFileSync(`${path}.copy`, path);
    expect(idsOf((await open()).store)).toEqual([1]);
  });

  test('is kept after the log or the file was deleted', async () => {
    for (const [index, name] of [path, logPath].entries()) {
      const file = await open();
      const known = idsOf(file.store);
      await add(file, [10 * index + 1], file.position);
      rmSync(name);
      await add(file, [10 * index + 2], file.position + 1);
      expect(existsSync(path)).toBe(true);
      await file.log.close();
      expect(idsOf((await open()).store)).toEqual([...known, 10 * index + 1, 10 * index + 2]);
      await opened.pop()?.log.close();
    }
  });
});

test('a mounted file is refused, since nothing could replace it', async () => {
  await (await open()).log.close();
  disk.mounted = path;
  await expect(open()).rejects.toThrow(`${path}: it is a mount point`);
});

test('a fold that fails leaves the log, and is tried again later', async () => {
  const file = await open();
  await add(file, [1]);
  disk.room = 0;
  await file.log.fold(1, { store: forkStore(file.store) });
  expect(notices).toEqual([expect.stringContaining('the disk is full (ENOSPC)')]);
  disk.room = Number.POSITIVE_INFINITY;
  await add(file, [2], 1);
  await kill(file);
  expect(idsOf((await open()).store)).toEqual([1, 2]);
});
