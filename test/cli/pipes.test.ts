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
import type { CommandName } from '../../src/cli/command-table.ts';
import { FLAG_NAMES, type FlagName, flagShape, spell } from '../../src/cli/flags.ts';
import { startServer } from '../../src/index.ts';
import { MAIN } from '../helpers/command.ts';
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

const certificate = join(folder, 'certificate.pem');
writeFileSync(certificate, '-----BEGIN CERTIFICATE-----\n00\n-----END CERTIFICATE-----\n');
const deployment = await startServer({ port: 0 });
afterAll(() => deployment.close());
const TO_DEPLOYMENT = [deployment.url, '--key', 'demo-key', '--rate', '10000'];

/** What each command needs besides the flag: words before it and after it. */
const WORDS: Partial<Record<CommandName, readonly [string[], string[]]>> = {
  exec: [['exec'], ['--', 'true']],
  sweep: [['sweep'], ['--', 'true']],
  check: [['check', ...TO_DEPLOYMENT], []],
  record: [['record', ...TO_DEPLOYMENT], []],
  validate: [['validate', 'scenarios/slow.yaml'], []],
  ctl: [['ctl', 'requests'], []],
};

/** What a flag needs besides its file. */
const OTHERS: Partial<Record<FlagName, readonly string[]>> = {
  tlsCert: ['--tls', '--tls-key', 'x'],
  tlsKey: ['--tls', '--tls-cert', certificate],
  tlsWrite: ['--tls'],
  output: ['--force'],
  save: ['--force', '--allow-unsettled'],
};

/** Each flag that names a file, under the first of its commands; one under all, which load files alike. */
const FLAG_ROWS = FLAG_NAMES.flatMap((flag) => {
  const { commands, placeholder = '' } = flagShape(flag);
  const isFile = /^(?:FILE|DIR)/.test(placeholder) || flag === 'scenarios';
  const tried = flag === 'fixture' ? commands : commands.slice(0, 1);
  return isFile ? tried.map((command) => [command, `--${spell(flag)}`, flag] as const) : [];
});

function wordsFor(command: CommandName, flag: FlagName, spelling: string, file: string) {
  const [before, after] = WORDS[command] ?? [[command], []];
  const port = command === 'serve' ? ['--port', '0'] : [];
  return [...before, ...port, ...(OTHERS[flag] ?? []), spelling, file, ...after];
}

type Setup = (pipe: string) => readonly string[];

/** Where else a server finds the names of files. */
const SETUPS: readonly (readonly [what: string, name: string, setup: Setup])[] = [
  ['that a scenario extends', 'own.yaml', (pipe) => scenarioWith(`extends: [${pipe}]`)],
  ['that is the fixture of a scenario', './own', (pipe) => scenarioWith(`fixture: ${pipe}`)],
  ['in the folder of --scenarios', 'own.yaml', (pipe) => ['--scenarios', dirname(pipe)]],
  ['in place of FILE.lock', 'db.lock', (pipe) => ['--db', join(dirname(pipe), 'db')]],
  ['that is /dev/stdin', 'stdin', () => ['--fixture', '/dev/stdin']],
  ['in place of .FILE.tmp', '.db.tmp', (pipe) => ['--db', join(dirname(pipe), 'db')]],
];

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
  await expect.poll(isWaiting, { interval: 20, timeout: 110_000 }).toBe(true);
  started += 1;
  child.kill(started % 2 === 0 ? 'SIGTERM' : 'SIGINT');
  const { code } = await exited;
  // Null where the command leaves the signal to the system.
  expect([0, 1, 2, 130, 143, null]).toContain(code);
  expect(printed.stderr).not.toMatch(/^\s+at /m);
}

describe.runIf(existsSync('/proc/self/fd'))(
  'no signal waits for a pipe without another end',
  // A whole check precedes its --save.
  { timeout: 120_000 },
  () => {
    test.concurrent.each(FLAG_ROWS)('%s %s', async (command, spelling, flag) => {
      const pipe = newPipe(join(newFolder(), flag === 'coverage' ? 'pipe.json' : 'pipe'));
      await expectEnd(wordsFor(command, flag, spelling, pipe), pipe);
    });

    test.concurrent.each(SETUPS)('serve with one %s', async (_what, name, setup) => {
      const pipe = newPipe(join(newFolder(), name));
      await expectEnd(['serve', '--port', '0', ...setup(pipe)], pipe);
    });
  },
);

test.each(FLAG_ROWS)('a link to itself and a long name get a message: %s %s', async (...row) => {
  const [command, spelling, flag] = row;
  const own = newFolder();
  const [loop, long] = ['loop.json', `${'x'.repeat(300)}.json`].map((name) => join(own, name));
  symlinkSync('loop.json', String(loop));
  for (const file of [loop, long]) {
    const words = wordsFor(command, flag, spelling, String(file));
    const { code, stdout, stderr } = await runInProcess(words);
    expect(`${stdout}${stderr}`).toMatch(/ELOOP|ENAMETOOLONG|too many|too long/);
    expect(stderr).not.toMatch(/^\s+at /m);
    expect([1, 2]).toContain(code);
  }
});
