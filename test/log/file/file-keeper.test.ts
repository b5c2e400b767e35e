import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  linkSync,
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
import { basename, join } from 'node:path';
import { crc32 } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { FileOptions } from '../../../src/log/file/file-keeper.ts';
import { changesLine, fileLine, readFileWithLog } from '../../../src/log/file/file-with-log.ts';
import { StorageError } from '../../../src/sandbox/storage.ts';
import { contentOf } from '../../../src/store/file/files.ts';
import { loadFixtureSync } from '../../../src/store/fixture/load-fixture.ts';
import { FixtureError } from '../../../src/store/fixture/parse-fixture.ts';
import { EMPTY_STORE, type Store } from '../../../src/store/store.ts';
import { type RunningCommand, startCommand } from '../../helpers/command.ts';
import { animal, type KeptFile, openKeptFile, storeIn } from '../../helpers/kept-file.ts';
import type { ProgramOptions } from '../../helpers/program.ts';

let folder = '';
let path = '';
let logPath = '';
const opened: KeptFile[] = [];
const notices: string[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'open-file-'));
  path = join(folder, 'db.json');
  logPath = `${path}.log`;
});

afterEach(async () => {
  for (const file of opened.splice(0)) await file.close();
  notices.length = 0;
  rmSync(folder, { recursive: true });
});

async function open(options?: FileOptions, at = path): Promise<KeptFile> {
  const onNotice = (notice: string) => notices.push(notice);
  const file = await openKeptFile(at, EMPTY_STORE, { onNotice, ...options });
  opened.push(file);
  return file;
}

const idsOf = ({ animals }: Store) => [...animals.ascending()].map(({ id }) => Number(id));

/** The ids of the animals that a start finds. */
async function idsAtStart(): Promise<number[]> {
  const file = await open();
  await file.close();
  return idsOf(file.store);
}

/** Ends a server as a kill does: file and log stay as they are. */
async function kill(file: KeptFile): Promise<void> {
  const contents = [path, logPath].map((it) => [it, readFileSync(it)] as const);
  await file.close();
  for (const [it, content] of contents) writeFileSync(it, content);
}

/** A log with a line for each of these animals. */
async function killedAfter(...ids: number[]): Promise<Buffer> {
  const file = await open();
  for (const id of ids) await file.keep(animal(id));
  await kill(file);
  return readFileSync(logPath);
}

describe('a file', () => {
  test('is created at once, and after a stop it alone is the whole store', async () => {
    const initial = loadFixtureSync('default');
    const first = await openKeptFile(path, initial);
    expect(loadFixtureSync(path).animals.size).toBe(64);
    await first.keep(animal(2n ** 63n - 1n), (store) => ({
      ...store,
      orders: store.orders.without([1n]),
    }));
    await first.close();
    expect(readdirSync(folder)).toEqual(['db.json']);
    const { animals, orders } = loadFixtureSync(path);
    expect(animals.get(2n ** 63n - 1n)?.categoryId).toBe(2n ** 63n - 1n);
    expect(orders.has(1n)).toBe(false);
    const { ino } = statSync(path);
    expect(await idsAtStart()).toHaveLength(65);
    expect(statSync(path).ino).toBe(ino);
  });

  test('is replaced behind a link, or created where a link points to', async () => {
    const [link, inside] = [join(folder, 'link.json'), join(folder, 'inside')];
    mkdirSync(inside);
    symlinkSync(join('inside', 'db.json'), link);
    for (const id of [1, 2]) {
      const file = await open({}, link);
      await file.keep(animal(id));
      await file.close();
    }
    expect(readdirSync(folder).sort()).toEqual(['inside', 'link.json']);
    expect(readdirSync(inside)).toEqual(['db.json']);
    expect(idsOf(loadFixtureSync(join(inside, 'db.json')))).toEqual([1, 2]);
  });

  test('is cleared of the drafts of killed servers, but of no file of the user', async () => {
    for (const end of ['', '.log'])
      writeFileSync(`${path}${end}.${crypto.randomUUID()}.draft`, '{');
    const own = ['2026-11-22.draft', '123.draft', 'log.2.draft', 'lock.2026', 'draft', 'old.json'];
    for (const ending of own) writeFileSync(`${path}.${ending}`, '{"animals": []}');
    await (await open()).close();
    const kept = ['db.json', ...own.map((ending) => `db.json.${ending}`)];
    expect(readdirSync(folder).sort()).toEqual(kept.sort());
  });

  test('that is broken stops the start, and stays as it is', async () => {
    writeFileSync(path, '{"animals": [{}]}');
    await expect(open()).rejects.toThrow(FixtureError);
    expect(readFileSync(path, 'utf8')).toBe('{"animals": [{}]}');
    expect(readdirSync(folder)).toEqual(['db.json']);
  });

  test('that nothing could replace is refused', async () => {
    const nowhere = join(folder, 'nowhere', 'db.json');
    await expect(open({}, nowhere)).rejects.toThrow(
      `${nowhere}: its folder does not exist (ENOENT)`,
    );
    await expect(open({}, folder)).rejects.toThrow('found a directory');
    const device = join(folder, 'device');
    symlinkSync('/dev/null', device);
    await expect(open({}, device)).rejects.toThrow(`${device}: it is a device or a pipe`);
    await (await open()).close();
    const other = join(folder, 'other.json');
    linkSync(path, other);
    for (const name of [path, other]) {
      await expect(open({}, name)).rejects.toThrow(`${name}: it has 2 names (hard links)`);
    }
  });
});

/** What a start finds beside a file and its log: the ids of animals and what it reports; or why it refuses. */
async function found(file: Content, log: Content): Promise<string> {
  for (const [at, content] of [[path, file] as const, [logPath, log] as const]) {
    if (content === undefined) rmSync(at, { force: true });
    else writeFileSync(at, content);
  }
  const reading = readFileWithLog(path).then(
    (pair) => [idsOf(pair?.store ?? EMPTY_STORE).join(), ...(pair?.losses ?? [])].join('; '),
    (error: unknown) => (error instanceof StorageError ? error.message : String(error)),
  );
  return (await reading).replaceAll(path, 'FILE');
}

type Content = Buffer | string | undefined;

describe('a start', () => {
  const EDITED = '{"animals": [{"id": 9, "name": "Max", "categoryId": 1}]}';

  test('finds what was kept, or says what stops it and what to do', async () => {
    const log = await killedAfter(1, 2, 3);
    const file = readFileSync(path);
    const [head = '', one = '', two = '', three = ''] = log.toString().split(/(?<=\n)/);
    const old = '{"file":{"size":8514,"crc32":3509541332},"at":0}';
    const place = `FILE.log:3: damaged at byte ${head.length + one.length}`;
    const rows: [file: Content, log: Content, found: string][] = [
      [undefined, undefined, ''],
      [file, log, '1,2,3'],
      [file, head + one, '1'],
      [file, undefined, ''],
      [EDITED, head, '9'],
      [
        EDITED,
        head + one + two,
        'FILE was edited, but FILE.log holds 2 changes to its former content; to use the edited file without them, delete FILE.log; to keep them, restore the file',
      ],
      [
        undefined,
        head + one,
        'FILE is missing, but FILE.log holds 1 change to it; restore the file, or delete FILE.log to start with a new one',
      ],
      [
        file,
        head + one + three,
        `${place}: expected change 2, found 3; restore the log from a copy, or delete it to start without its changes`,
      ],
      [
        file,
        `${crc32(old).toString(16).padStart(8, '0')} ${old}\n`,
        'FILE.log:1: another version of petstore-mock wrote this log; start and stop that version once to have its changes in the file, or delete the log to start without them',
      ],
    ];
    for (const [its, beside, expected] of rows) expect(await found(its, beside)).toBe(expected);
  });

  test('leaves out a last line that is cut or damaged, and refuses damage before it', async () => {
    const log = await killedAfter(1, 2);
    const file = readFileSync(path);
    const last = log.lastIndexOf('\n', -2) + 1;
    const loss = 'FILE.log: the last line was damaged or cut; it is left out';
    for (let at = last; at < log.length; at += 1) {
      const cut = at === last ? '1' : `1; ${loss} (${at - last} bytes)`;
      expect(await found(file, log.subarray(0, at))).toBe(cut);
      expect(await found(file, damaged(log, at))).toBe(`1; ${loss} (${log.length - last} bytes)`);
    }
    let offset = 0;
    for (const [index, line] of log.toString('latin1').split('\n').slice(0, -2).entries()) {
      for (const at of [0, 8, line.length - 1, line.length]) {
        expect(await found(file, damaged(log, offset + at))).toBe(
          `FILE.log:${index + 1}: damaged at byte ${offset}: the checksum does not match; restore the log from a copy, or delete it to start without its changes`,
        );
      }
      offset += line.length + 1;
    }
    const twice = damaged(damaged(log, offset - 3), log.length - 3);
    expect(await found(file, twice)).toContain('FILE.log:2: damaged at byte');
  });

  test('finds all changes of an append or none, reports a cut one once, and goes on', async () => {
    const file = await open();
    await file.keep(animal(1));
    await file.keep(animal(2), animal(3), (store) => ({
      ...store,
      animals: store.animals.without([1n]),
    }));
    await kill(file);
    expect(idsOf(await storeIn(path))).toEqual([2, 3]);
    writeFileSync(logPath, readFileSync(logPath).subarray(0, -10));
    const again = await open();
    await again.keep(animal(4));
    await kill(again);
    expect(await idsAtStart()).toEqual([1, 4]);
    expect(notices).toEqual([expect.stringContaining('the last line was damaged')]);
  });

  test('finds the whole store after a kill at any step of a fold, and reports an older file', async () => {
    const long = animal(2, 'x'.repeat(4 * 1024 * 1024));
    const server = await open();
    await server.keep(animal(1));
    const [file, log] = [readFileSync(path), readFileSync(logPath)];
    const change = { animals: server.store.animals.changeTo(long(server.store).animals) };
    await server.keep(long);
    await server.keep(animal(3));
    const [newFile, newLog] = [readFileSync(path), readFileSync(logPath)];
    expect(newLog.length).toBeLessThan(1000);
    const grown = Buffer.concat([log, changesLine(1, [change])]);
    const folded = fileLine(2, contentOf(newFile));
    const ready = Buffer.concat([grown, folded]);
    const older =
      'FILE is older than what FILE.log was folded into, or was edited: it lacks changes';
    const steps: [file: Buffer, log: Buffer, found: string][] = [
      [file, grown, '1,2'],
      [file, ready, '1,2'],
      [newFile, ready, '1,2'],
      [newFile, folded, '1,2'],
      [newFile, newLog, '1,2,3'],
      [file, folded, `; ${older}`],
    ];
    for (const [its, beside, ids] of steps) expect(await found(its, beside)).toBe(ids);
    expect(await found(file, newLog)).toContain('FILE was edited, but FILE.log holds 1 change');
    await found(newFile, newLog);
  });
});

describe('a change', () => {
  test('is kept after the log, the file or both were deleted', async () => {
    for (const [index, names] of [[path], [logPath], [path, logPath]].entries()) {
      const file = await open();
      await file.keep(animal(10 * index + 1));
      for (const name of names) rmSync(name);
      await file.keep(animal(10 * index + 2));
      await file.keep(animal(10 * index + 3));
      const known = idsOf(file.store);
      expect(idsOf(await storeIn(path))).toEqual(known);
      await kill(file);
      expect(await idsAtStart()).toEqual(known);
    }
  });

  test('that is refused since no log can be created is in no file', async () => {
    const file = await open();
    await file.keep(animal(1));
    rmSync(logPath);
    mkdirSync(logPath);
    await expect(file.keep(animal(2))).rejects.toThrow(StorageError);
    rmSync(logPath, { recursive: true });
    await file.keep(animal(3));
    await kill(file);
    expect(await idsAtStart()).toEqual([1, 3]);
  });
});

/** A server that has the file. */
async function holder(options?: ProgramOptions) {
  if (!existsSync(path)) writeFileSync(path, '{"animals": []}');
  const server = await startCommand(['--port', '0', '--log', 'off', '--db', path], {}, options);
  const animals = new URL('/__mock/animals', server.url);
  /** Adds an animal with a name of this length: `kept`, or why not. */
  const add = async (id: number, length = 10): Promise<string> => {
    const body = JSON.stringify({ id, name: 'x'.repeat(length), categoryId: 1 });
    const headers = { 'Content-Type': 'application/json' };
    const reply = await fetch(animals, { method: 'POST', headers, body });
    return Object(await reply.json()).message ?? 'kept';
  };
  const signal = (name: NodeJS.Signals) => server.process.kill(name);
  const die = async () => {
    signal('SIGKILL');
    await server.exited;
  };
  return { ...server, add, signal, die };
}

describe.runIf(process.platform === 'linux')('a disk', () => {
  /** Limits the size of the files that a process writes, as a full disk does in the middle of a write. */
  async function limit(
    { process: { pid } }: RunningCommand,
    bytes: number | 'unlimited',
  ): Promise<void> {
    await once(spawn('prlimit', ['--pid', String(pid), `--fsize=${bytes}:`]), 'close');
  }

  test('without room refuses a change, and keeps the next one when there is room again', async () => {
    const server = await holder();
    expect(await server.add(1)).toBe('kept');
    const { size } = statSync(logPath);
    for (const room of [0, 1, 50]) {
      await limit(server, size + room);
      expect(await server.add(2)).toBe(
        `the change was not made: ${path}: it would be larger than 500 MiB, or than the system allows (EFBIG)`,
      );
      expect(statSync(logPath).size).toBe(size);
    }
    await limit(server, 'unlimited');
    expect(await server.add(3)).toBe('kept');
    await server.die();
    expect(await idsAtStart()).toEqual([1, 3]);
  });

  test('without room for a fold keeps changes in the log, and says so', async () => {
    const before = await open();
    await before.keep(animal(1, 'x'.repeat(1024 ** 2)));
    await before.close();
    const server = await holder();
    await limit(server, 4.5 * 1024 ** 2);
    for (const id of [2, 3, 4, 5, 6]) expect(await server.add(id, 900_000)).toBe('kept');
    await expect
      .poll(server.stderr)
      .toContain(
        `${path}: it would be larger than 500 MiB, or than the system allows (EFBIG); the changes stay in ${logPath} until it can be written\n`,
      );
    expect(readdirSync(folder).sort()).toEqual(['db.json', 'db.json.lock', 'db.json.log']);
    expect(await server.add(7)).toBe('kept');
    await server.die();
    expect(await idsAtStart()).toEqual([1, 2, 3, 4, 5, 6, 7]);
  });

  test('with a read-only file refuses changes until it is writable again', async () => {
    chmodSync(folder, 0o777);
    // Root may write any file.
    const server = await holder(process.getuid?.() === 0 ? { uid: 65_534 } : {});
    chmodSync(path, 0o444);
    expect(await server.add(1)).toContain(`${path}: permission denied (EACCES)`);
    chmodSync(path, 0o666);
    expect(await server.add(2)).toBe('kept');
    await server.stop();
    expect(await idsAtStart()).toEqual([2]);
  });
});

describe('the lock', () => {
  const patience = 300;
  const lockPath = () => `${path}.lock`;

  test('refuses a second server and names the holder, also through a link', async () => {
    const file = await open();
    const link = join(folder, 'link.json');
    symlinkSync(basename(path), link);
    for (const name of [path, link]) {
      const holder = `process ${process.pid} on ${hostname()}, since \\S+Z`;
      await expect(open({}, name)).rejects.toThrow(
        new RegExp(`^${name} is in use by another server \\(${holder}\\); stop that one, or name`),
      );
    }
    await file.close();
    expect(await idsAtStart()).toEqual([]);
  });

  test.each([
    ['of an ended process whose id is in use again', 3_600_000, () => ({ began: '1' })],
    ['of a system that names no processes', patience, () => ({ system: undefined })],
    ['that cannot be read', patience, () => ({ id: undefined })],
  ])('%s is taken over', async (_whose, longest, difference) => {
    await open();
    const own = JSON.parse(readFileSync(lockPath(), 'utf8'));
    await opened.pop()?.close();
    writeFileSync(lockPath(), JSON.stringify({ ...own, id: 'x', ...difference() }));
    await open({ patience: longest });
  });

  test('of a killed server is taken over at once, and a log that is then missing is reported', async () => {
    const server = await holder();
    const { pid } = server.process;
    expect(await server.add(1)).toBe('kept');
    await expect(open()).rejects.toThrow(`process ${pid}`);
    await server.die();
    rmSync(logPath);
    // Longer than this test may take: on this system, nobody waits for a heartbeat.
    await (await open({ patience: 3_600_000 })).close();
    expect(notices).toEqual([
      expect.stringMatching(
        `^${logPath} is missing, and the last server \\(process ${pid} on .*\\) was killed; if it had changes, ${path} lacks them$`,
      ),
    ]);
  });

  test('is created again after its file was deleted', async () => {
    const file = await open();
    rmSync(lockPath());
    await file.keep(animal(1));
    await expect(open()).rejects.toThrow('is in use by another server');
  });

  test('that cannot be read for a while refuses changes, but is not lost', async () => {
    const file = await open({ patience: 50 });
    const lock = readFileSync(lockPath());
    rmSync(lockPath());
    mkdirSync(lockPath());
    await expect(file.keep(animal(1))).rejects.toThrow(StorageError);
    rmSync(lockPath(), { recursive: true });
    writeFileSync(lockPath(), lock);
    await file.keep(animal(2));
    await kill(file);
    expect(notices).toEqual([]);
    expect(await idsAtStart()).toEqual([2]);
  });

  test.each(['still has the file', 'has released the file'])(
    'is lost if its file was deleted and a second server %s',
    async (state) => {
      const first = await open({ patience: 3_600_000 });
      await first.keep(animal(1));
      rmSync(lockPath());
      const second = await open();
      await second.keep(animal(2));
      if (state === 'has released the file') await second.close();
      for (const id of [3, 4]) {
        await expect(first.keep(animal(id))).rejects.toThrow(
          `${path}: another server has taken the file`,
        );
      }
      await first.close();
      expect(notices).toEqual([
        `${path}: another server has taken the file; it saves no more changes`,
      ]);
      expect(existsSync(lockPath())).toBe(state === 'still has the file');
      expect(idsOf(await storeIn(path))).toEqual([1, 2]);
    },
  );

  test('of a paused server is taken over; after it resumes, that server saves nothing', async () => {
    const server = await holder();
    expect(await server.add(1)).toBe('kept');
    server.signal('SIGSTOP');
    const lock = JSON.parse(readFileSync(lockPath(), 'utf8'));
    writeFileSync(lockPath(), JSON.stringify({ ...lock, system: 'theirs' }));
    const file = await open({ patience });
    expect(idsOf(file.store)).toEqual([1]);
    await file.keep(animal(2));
    server.signal('SIGCONT');
    for (const id of [3, 4]) {
      expect(await server.add(id)).toContain('another server has taken the file');
    }
    await server.stop();
    expect(server.stderr()).toContain(
      `${path}: another server has taken the file; it saves no more changes\n`,
    );
    expect(idsOf(await storeIn(path))).toEqual([1, 2]);
    await file.keep(animal(5));
  });
});

function damaged(bytes: Buffer, at: number): Buffer {
  const copy = Buffer.from(bytes);
  copy[at] = (copy[at] ?? 0) ^ 1;
  return copy;
}
