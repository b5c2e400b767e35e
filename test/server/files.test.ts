import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { validateFile } from '../../src/cli/commands/validate.ts';
import { readConfigFile } from '../../src/cli/flag-sources.ts';
import { startServer } from '../../src/index.ts';
import { packageRoot, readText, readTextSync, watchFiles } from '../../src/server/files.ts';
import { loadFixture } from '../../src/server/fixtures.ts';
import { loadScenarios } from '../../src/server/scenarios.ts';
import { MAIN } from '../helpers/command.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { runProgram } from '../helpers/program.ts';

const folder = temporaryFolder();

let count = 0;
function newPath(text?: string | Uint8Array): string {
  count += 1;
  const path = join(folder, `${count}.yaml`);
  if (text !== undefined) writeFileSync(path, text);
  return path;
}

describe('a text', () => {
  test.each([['readText', readText] as const, ['readTextSync', readTextSync] as const])(
    'is read from a regular file up to the limit, as UTF-8, by %s',
    async (_name, read) => {
      const path = newPath('Zoë');
      expect(await read(path, 4)).toEqual({ ok: true, text: 'Zoë' });
      writeFileSync(path, 'Zoë', 'latin1');
      expect(await read(path, 4)).toEqual({ ok: false, found: 'bytes that are not UTF-8' });
      truncateSync(path, 1024 ** 2 + 1);
      expect(await read(path, 1024 ** 2)).toEqual({ ok: false, found: 'more than 1 MiB' });
      expect(await read(folder, 10)).toEqual({ ok: false, found: 'a directory' });
      expect(await read(newPath(), 10)).toEqual({ ok: false, found: 'nothing' });
      expect(await read('\0', 10)).toMatchObject({ found: expect.stringContaining('cannot be') });
    },
  );

  test.runIf(existsSync('/dev/zero'))('is not read from a device or a socket', async () => {
    const [path, socket] = [newPath(), newPath()];
    symlinkSync('/dev/zero', path);
    const server = createServer().listen(socket);
    await once(server, 'listening');
    const found = 'a device or a socket';
    expect(await readText(socket, 10)).toEqual({ ok: false, found });
    server.close();
    await expect(loadFixture(path)).rejects.toThrow(found);
    await expect(loadScenarios([path])).rejects.toThrow(found);
    await expect(readConfigFile(path, '--config')).rejects.toThrow(found);
    expect((await validateFile(path)).problems).toMatchObject([{ found }]);
  });
});

describe.skipIf(process.platform === 'win32')('a pipe', () => {
  test('of a shell can be a fixture, a scenario, and neither', async () => {
    const fixture = readFileSync(join(packageRoot, 'fixtures/default.json'), 'utf8');
    const pipes = '<(printf %s "$2") <(echo "rules: []") <(echo "rule: []")';
    const words = ['-c', `"$0" "$1" validate ${pipes}`, process.execPath, MAIN, fixture];
    const { output } = await runProgram('bash', words);
    expect(output).toMatch(/^\S+: valid\n\S+: valid\n.*did you mean rules\?\)\n$/);
  });

  test('is refused where it would have to be read again', async () => {
    const fixture = join(folder, 'store.pipe');
    execFileSync('mkfifo', [fixture]);
    const starting = startServer({ port: 0, fixture, watch: true });
    await expect(starting).rejects.toThrow(`${fixture}: expected a file, found a pipe`);
  });
});

/** Watches files; `next` resolves after a change. */
function watch(...paths: string[]) {
  let changes = 0;
  let report: () => void = () => {};
  const next = new Promise<void>((resolve) => {
    report = resolve;
  });
  const watching = watchFiles(paths, () => {
    changes += 1;
    report();
  });
  onTestFinished(watching.close);
  return { next, changes: () => changes };
}

describe('a change is reported when', () => {
  test.each<[string, (file: string) => void]>([
    ['the file is written in place', (file) => writeFileSync(file, 'b')],
    ['an editor puts a new file in its place', (file) => renameSync(newPath('a'), file)],
    ['it is removed', (file) => unlinkSync(file)],
  ])('%s', async (_what, change) => {
    const file = newPath('a');
    const { next } = watch(file);
    change(file);
    await next;
  });

  test('it is created', async () => {
    const file = newPath();
    const { next } = watch(file);
    writeFileSync(file, 'a');
    await next;
  });

  test('a link in its path changes, as for a mounted ConfigMap', async () => {
    for (const name of ['one', 'two']) {
      mkdirSync(join(folder, name));
      writeFileSync(join(folder, name, 'file.yaml'), 'a');
    }
    symlinkSync('one', join(folder, 'now'));
    symlinkSync('now/file.yaml', join(folder, 'file.yaml'));
    const { next } = watch(join(folder, 'file.yaml'));
    symlinkSync('two', join(folder, 'next'));
    renameSync(join(folder, 'next'), join(folder, 'now'));
    await next;
  });
});

test('several changes at once are reported once, other files are ignored', async () => {
  const [one, two] = [newPath('a'), newPath('a')];
  const { next, changes } = watch(one, two);
  newPath('a');
  for (const text of ['b', 'bc']) writeFileSync(one, text);
  writeFileSync(two, 'b');
  await next;
  expect(changes()).toBe(1);
});

test('a change during onChange is reported afterwards', async () => {
  const file = newPath('a');
  const order: string[] = [];
  await new Promise<void>((resolve) => {
    const { close } = watchFiles([file], async () => {
      order.push('begin');
      if (order.length === 1) {
        writeFileSync(file, 'a third text');
        await new Promise((wait) => setTimeout(wait, 150));
      }
      order.push('end');
      if (order.length === 4) resolve();
    });
    onTestFinished(close);
    writeFileSync(file, 'another');
  });
  expect(order).toEqual(['begin', 'end', 'begin', 'end']);
});
