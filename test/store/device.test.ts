import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadScenarios } from '../../src/scenario/load-scenario.ts';
import { validateFile } from '../../src/scenario/validate-file.ts';
import { openStoreFile, StoreFileError } from '../../src/store/file/store-file.ts';
import { isDevice } from '../../src/store/fixture/device.ts';
import { loadFixture } from '../../src/store/fixture/load-fixture.ts';
import { createStore } from '../../src/store/store.ts';

let folder = '';

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'device-'));
});

afterAll(() => rmSync(folder, { recursive: true }));

describe.runIf(existsSync('/dev/zero'))('a device', () => {
  /** Under a name that says that it is JSON. */
  function linkTo(device: string): string {
    const link = join(folder, `${device.replaceAll('/', '-')}.json`);
    symlinkSync(device, link);
    return link;
  }

  test('is no fixture, no scenario and no file to check, though it never ends', async () => {
    const path = linkTo('/dev/zero');
    expect(() => loadFixture(path)).toThrow(/; found a device$/);
    await expect(loadScenarios([path])).rejects.toThrow(/; found a device$/);
    expect(await validateFile(path)).toEqual([expect.stringMatching(/; found a device$/)]);
  });

  test('keeps no store, and nothing is put beside it', async () => {
    const path = linkTo('/dev/full');
    const opening = openStoreFile(path, () => createStore(loadFixture('default')));
    await expect(opening).rejects.toThrow(StoreFileError);
    await expect(opening).rejects.toThrow(`${path}: it is a device or a pipe`);
  });
});

describe.skipIf(process.platform === 'win32')('a pipe', () => {
  test('is read, as those that shells make for the output of a command', () => {
    const pipe = join(folder, 'pipe');
    execFileSync('sh', ['-c', 'mkfifo "$0"', pipe]);
    expect(isDevice(pipe)).toBe(false);
  });
});

test('a file, a folder and nothing are no devices', () => {
  const file = join(folder, 'file.json');
  writeFileSync(file, '{}');
  expect([file, folder, join(file, 'none')].map(isDevice)).toEqual([false, false, false]);
});
