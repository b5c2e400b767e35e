import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { startServer } from '../../src/index.ts';
import { MAIN, startCommand } from '../helpers/command.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { runInProcess } from '../helpers/invocation.ts';
import { spawnProgram } from '../helpers/program.ts';

const folder = temporaryFolder();

let count = 0;
function newFolder(): string {
  count += 1;
  const path = join(folder, `${count}`);
  mkdirSync(path);
  return path;
}

/** A pipe that nobody reads or writes. */
function newPipe(path: string): string {
  execFileSync('mkfifo', [path]);
  return path;
}

/** Whether a process has opened a pipe. A thread that waits for the other end has not. */
function hasOpened(pid: number | undefined, pipe: string): boolean {
  const open = `/proc/${pid}/fd`;
  try {
    const others = readdirSync(open).filter((fd) => fd !== '0');
    return others.some((fd) => readlinkSync(join(open, fd)) === pipe);
  } catch {
    // It has just ended, or closed a file.
    return false;
  }
}

const deployment = await startServer({ port: 0 });
afterAll(() => deployment.close());
const TO_DEPLOYMENT = [deployment.url, '--key', 'demo-key', '--rate', '10000', '--force'];
const SERVE = ['serve', '--port', '0'];

/** A command for each way of reading or writing a file that a flag names. */
const LINES: readonly (readonly [flag: string, words: (file: string) => readonly string[]])[] = [
  ['--config', (file) => ['health', '--config', file]],
  ['--fixture', (file) => [...SERVE, '--fixture', file]],
  ['--scenario', (file) => [...SERVE, '--scenario', file]],
  ['--tls-key', (file) => [...SERVE, '--tls', '--tls-cert', file, '--tls-key', file]],
  ['--tls-write', (file) => [...SERVE, '--tls', '--tls-write', file]],
  ['--db', (file) => [...SERVE, '--db', file]],
  ['--scenarios', (file) => [...SERVE, '--scenarios', file]],
  ['--coverage', (file) => ['exec', '--coverage', file, '--', 'true']],
  ['--output', (file) => ['generate', '--animals', '1', '--force', '--output', file]],
  ['--save', (file) => ['check', ...TO_DEPLOYMENT, '--allow-unsettled', '--save', file]],
];

/** Where else a server finds the names of files. */
const PLACES: readonly (readonly [what: string, name: string, setup: Setup])[] = [
  ['that a scenario extends', 'own.yaml', (pipe) => scenarioWith(`extends: [${pipe}]`)],
  ['that is the fixture of a scenario', './own', (pipe) => scenarioWith(`fixture: ${pipe}`)],
  ['in the folder of --scenarios', 'own.yaml', (pipe) => ['--scenarios', dirname(pipe)]],
  ['in place of FILE.lock', 'db.lock', (pipe) => ['--db', join(dirname(pipe), 'db')]],
  ['that is /dev/stdin', 'stdin', () => ['--fixture', '/dev/stdin']],
  ['in place of .FILE.tmp', '.db.tmp', (pipe) => ['--db', join(dirname(pipe), 'db')]],
];

type Setup = (pipe: string) => readonly string[];

function scenarioWith(text: string): readonly string[] {
  const file = join(newFolder(), 'scenario.yaml');
  writeFileSync(file, `${text}\n`);
  return ['--scenario', file];
}

let started = 0;

/** Starts a command and, once it has opened the pipe or is ready, sends a signal: it must end. */
async function expectEnd(args: readonly string[], pipe: string): Promise<void> {
  const isInput = args.includes('/dev/stdin');
  const input = isInput ? pipe : '/dev/null';
  const words = ['-c', 'exec "$@" <>"$0"', input, process.execPath, MAIN, ...args];
  const { child, printed, exited } = spawnProgram('sh', words);
  let hasEnded = false;
  void exited.then(() => {
    hasEnded = true;
  });
  const isWaiting = () =>
    hasEnded || hasOpened(child.pid, pipe) || printed.stdout.includes('petstore-mock ready');
  // A whole check precedes its --save.
  await expect.poll(isWaiting, { interval: 20, timeout: 240_000 }).toBe(true);
  started += 1;
  child.kill(started % 2 === 0 ? 'SIGTERM' : 'SIGINT');
  const { code } = await exited;
  // Null where the command leaves the signal to the system.
  expect([0, 1, 2, 130, 143, null]).toContain(code);
  expect(printed.stderr).not.toMatch(/^\s+at /m);
}

describe.runIf(existsSync('/proc/self/fd'))(
  'no signal waits for a pipe without another end',
  () => {
    test.concurrent.each(LINES)('%s', async (_flag, wordsFor) => {
      const pipe = newPipe(join(newFolder(), 'pipe.json'));
      await expectEnd(wordsFor(pipe), pipe);
    });

    test.concurrent.each(PLACES)('serve with one %s', async (_what, name, setup) => {
      const pipe = newPipe(join(newFolder(), name));
      await expectEnd([...SERVE, ...setup(pipe)], pipe);
    });
  },
);

test.each(LINES)('a link to itself and a long name get a message: %s', async (_flag, wordsFor) => {
  const own = newFolder();
  const [loop, long] = ['loop.json', `${'x'.repeat(300)}.json`].map((name) => join(own, name));
  symlinkSync('loop.json', String(loop));
  for (const file of [loop, long]) {
    const { code, stdout, stderr } = await runInProcess(wordsFor(String(file)));
    expect(`${stdout}${stderr}`).toMatch(/ELOOP|ENAMETOOLONG|too many|too long/);
    expect(stderr).not.toMatch(/^\s+at /m);
    expect([1, 2]).toContain(code);
  }
});

test('a million animals are served, as an example of --help shows', async () => {
  const server = await startCommand(['--animals', '1000000', '--seed', '7', '--port', '0']);
  const headers = { Authorization: 'Bearer demo-key' };
  expect((await fetch(`${server.url}/pets/1000000`, { headers })).status).toBe(200);
  expect((await server.stop()).code).toBe(0);
});
