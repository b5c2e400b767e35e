import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { validateFile } from '../src/cli/commands/validate.ts';
import { readConfigFile } from '../src/cli/flag-sources.ts';
import { packageRoot, readText, readTextSync } from '../src/files.ts';
import { loadScenarios } from '../src/scenario/load-scenario.ts';
import { loadFixture } from '../src/store/fixture.ts';
import { runCommand, spawnCommand } from './helpers/command.ts';
import { temporaryFolder } from './helpers/folder.ts';
import { runProgram } from './helpers/program.ts';

const folder = temporaryFolder();

let count = 0;
function newPath(extension = '.json'): string {
  count += 1;
  return join(folder, `${count}${extension}`);
}

function newPipe(): string {
  const path = newPath('');
  execFileSync('mkfifo', [path]);
  return path;
}

/** Where a link leads; empty if it is gone. */
function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}

const FIXTURE = readFileSync(join(packageRoot, 'fixtures/default.json'), 'utf8');

describe('a text', () => {
  test('of a regular file is read up to the limit, as UTF-8', async () => {
    const path = newPath();
    writeFileSync(path, 'Zoë');
    for (const read of [readText, readTextSync]) {
      expect(await read(path, 4)).toEqual({ ok: true, text: 'Zoë', pipe: false });
    }
    truncateSync(path, 1024 ** 2 + 1);
    expect(await readText(path, 1024 ** 2)).toEqual({ ok: false, found: 'more than 1 MiB' });
    writeFileSync(path, 'Zoë', 'latin1');
    for (const read of [readText, readTextSync]) {
      expect(await read(path, 4)).toEqual({ ok: false, found: 'bytes that are not UTF-8' });
    }
  });

  test('is not read from folders, sockets or missing files', async () => {
    const socket = newPath();
    const server = createServer().listen(socket);
    await once(server, 'listening');
    for (const [path, found] of [
      [folder, 'a directory'],
      [socket, 'a socket'],
      [newPath(), 'nothing'],
    ] as const) {
      expect(await readText(path, 10)).toEqual({ ok: false, found });
    }
    server.close();
  });
});

describe.runIf(existsSync('/dev/zero'))('a device', () => {
  function linkTo(device: string): string {
    const link = newPath();
    symlinkSync(device, link);
    return link;
  }

  test('is refused by every flag that names a file', async () => {
    const path = linkTo('/dev/zero');
    const found = /found a device$/;
    await expect(loadFixture(path)).rejects.toThrow(found);
    await expect(loadScenarios([path])).rejects.toThrow(found);
    await expect(readConfigFile(path, '--config')).rejects.toThrow(found);
    expect(await validateFile(path)).toMatchObject([{ found: 'a device' }]);
  });
});

describe.skipIf(process.platform === 'win32')('a pipe', () => {
  // In a process of its own: a thread of vitest would close the descriptor again when it ends.
  test('is read to its end, but not beyond the limit', async () => {
    const path = newPipe();
    const text = `${'# a comment\n'.repeat(20_000)}rule: []`;
    spawn('sh', ['-c', 'cat > "$0"', path]).stdin.end(text);
    const { stdout } = await runCommand(['validate', path]);
    expect(stdout).toContain(`${path}:20001:1: `);
    const writer = spawn('sh', ['-c', 'cat /dev/zero > "$0"', path]);
    const ended = once(writer, 'exit');
    const { stderr } = await runCommand(['health', '--config', path]);
    expect(stderr).toContain('found more than 16 MiB');
    await ended;
  });

  test.each([
    [FIXTURE, 'valid'],
    ['rules: []', 'valid'],
    ['rule: []', 'did you mean rules?'],
  ])('of a shell can be a fixture or a scenario (%#)', async (text, verdict) => {
    const words = [process.execPath, join(packageRoot, 'dist/cli/main.js'), text];
    const command = '"$0" "$1" validate <(printf %s "$2")';
    expect((await runProgram('bash', ['-c', command, ...words])).output).toContain(verdict);
  });

  test.each(['exec', 'sweep'])(
    'can be the scenario and the fixture of %s, read once',
    async (runner) => {
      const [scenario, fixture] = [newPipe(), newPipe()];
      const writers = [
        ['keys: { valid: [from-a-pipe] }', scenario],
        [FIXTURE, fixture],
      ].map(([text = '', path = '']) => spawn('sh', ['-c', 'printf %s "$0" > "$1"', text, path]));
      const script =
        'curl -fs -H "Authorization: Bearer $PETSTORE_MOCK_KEY" $PETSTORE_MOCK_URL/pets';
      const flags = ['--scenario', scenario, '--fixture', fixture];
      const { code, stderr } = await runCommand([runner, ...flags, '--', 'sh', '-c', script]);
      for (const writer of writers) writer.kill();
      expect({ code, stderr }).toMatchObject({ code: 0 });
    },
  );

  test
    .runIf(existsSync('/proc/self/fd'))
    .each([
      ['--fixture'],
      ['--scenario'],
      ['--tls', '--tls-key', 'x', '--tls-cert'],
      ['--upstream', 'http://127.0.0.1:1/v1', '--cacert'],
    ])(
    'that nobody writes does not keep a signal from ending the process: %s %s %s %s',
    async (...flags) => {
      const path = newPipe();
      const { child, exited } = spawnCommand(['--port', '0', ...flags, path]);
      const isOpen = () => {
        const open = `/proc/${child.pid}/fd`;
        return readdirSync(open).some((fd) => linkOf(join(open, fd)) === path);
      };
      await expect.poll(isOpen, { timeout: 5000 }).toBe(true);
      child.kill('SIGTERM');
      expect(await exited).toEqual({ code: 0, signal: null });
    },
  );

  test('is refused by a call that cannot wait', () => {
    const found = 'a pipe, which this call cannot wait for';
    expect(readTextSync(newPipe(), 10)).toEqual({ ok: false, found });
  });
});
