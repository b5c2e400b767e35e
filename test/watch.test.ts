import {
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type FileWatch, watchFiles } from '../src/files.ts';

let folder = '';
let watched: FileWatch | undefined;

beforeEach(() => {
  folder = mkdtempSync(join(realpathSync(tmpdir()), 'watch-'));
});

afterEach(() => {
  watched?.close();
  watched = undefined;
  rmSync(folder, { recursive: true });
});

function write(name: string, text: string): string {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}

/** Watches files; `next` resolves after a change. */
function watchThem(...paths: string[]) {
  let count = 0;
  let report: () => void = () => {};
  const next = new Promise<void>((resolve) => {
    report = resolve;
  });
  watched = watchFiles(paths, () => {
    count += 1;
    report();
  });
  return { next, count: () => count };
}

describe('a change is reported when', () => {
  test.each([
    ['the file is written in place', (file: string) => writeFileSync(file, 'b')],
    [
      'an editor puts a new file in its place',
      (file: string) => {
        writeFileSync(`${file}.tmp`, 'a');
        renameSync(`${file}.tmp`, file);
      },
    ],
    ['it is removed', (file: string) => unlinkSync(file)],
  ])('%s', async (_what, change) => {
    const file = write('file.yaml', 'a');
    const { next } = watchThem(file);
    change(file);
    await next;
  });

  test('it is created', async () => {
    const { next } = watchThem(join(folder, 'later.yaml'));
    write('later.yaml', 'a');
    await next;
  });

  test('a link in its path changes, as for a mounted ConfigMap', async () => {
    for (const name of ['one', 'two']) {
      mkdirSync(join(folder, name));
      write(`${name}/file.yaml`, 'a');
    }
    symlinkSync('one', join(folder, 'now'));
    symlinkSync('now/file.yaml', join(folder, 'file.yaml'));
    const { next } = watchThem(join(folder, 'file.yaml'));
    symlinkSync('two', join(folder, 'next'));
    renameSync(join(folder, 'next'), join(folder, 'now'));
    await next;
  });
});

test('several changes at once are reported once, other files are ignored', async () => {
  const one = write('one.yaml', 'a');
  const two = write('two.yaml', 'a');
  const { next, count } = watchThem(one, two);
  write('other.yaml', 'a');
  writeFileSync(one, 'b');
  writeFileSync(one, 'bc');
  writeFileSync(two, 'b');
  await next;
  expect(count()).toBe(1);
});

test('a change during onChange is reported afterwards', async () => {
  const file = write('file.yaml', 'a');
  const order: string[] = [];
  await new Promise<void>((resolve) => {
    watched = watchFiles([file], async () => {
      order.push('begin');
      if (order.length === 1) {
        writeFileSync(file, 'a third text');
        await new Promise((wait) => setTimeout(wait, 150));
      }
      order.push('end');
      if (order.length === 4) resolve();
    });
    writeFileSync(file, 'another');
  });
  expect(order).toEqual(['begin', 'end', 'begin', 'end']);
});
