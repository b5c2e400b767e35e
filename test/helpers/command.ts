import { type ChildProcessWithoutNullStreams, type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { packageRoot } from '../../src/package.ts';

const MAIN = join(packageRoot, 'dist/cli/main.js');

/** The start of the environment of every process: nothing of ours that happens to be set. */
const ENVIRONMENT = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !name.startsWith('PETSTORE_MOCK_')),
);

export type Environment = Readonly<Record<string, string>>;

interface Exit {
  /** 128 and the signal's number are not added: a process that a signal ended has no code. */
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface Finished extends Exit {
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunningCommand {
  /** The service's base URL, from the ready line. */
  readonly url: string;
  readonly process: ChildProcessWithoutNullStreams;
  /** Everything printed so far. */
  readonly stdout: () => string;
  readonly stderr: () => string;
  readonly exited: Promise<Exit>;
  /** Sends SIGTERM and waits for the end. */
  readonly stop: () => Promise<Exit>;
}

const running = new Set<ChildProcessWithoutNullStreams>();

/** Ends whatever the tests of a file left running. */
export function killCommands(): void {
  for (const child of running) child.kill('SIGKILL');
}

/** Starts `petstore-mock` without waiting for anything. Its standard input stays open. */
export function spawnCommand(
  args: readonly string[],
  env: Environment = {},
  { uid }: SpawnOptions = {},
) {
  const options = { env: { ...ENVIRONMENT, ...env }, uid };
  // Another user may not be allowed to run this Node, but finds one in the PATH.
  const program = uid === undefined ? process.execPath : 'node';
  const child = spawn(program, [MAIN, ...args], options);
  running.add(child);
  const printed = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed.stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    printed.stderr += text;
  });
  const exited = new Promise<Exit>((resolve) => {
    child.once('close', (code, signal) => {
      running.delete(child);
      resolve({ code, signal });
    });
  });
  return { child, printed, exited };
}

/**
 * Runs `petstore-mock` to its end.
 *
 * @param reader whether its output is read to the end, or only what comes first, as `head` does
 */
export async function runCommand(
  args: readonly string[],
  env: Environment = {},
  reader: 'read all' | 'leave early' = 'read all',
): Promise<Finished> {
  const { child, printed, exited } = spawnCommand(args, env);
  child.stdin.end();
  if (reader === 'leave early') child.stdout.once('data', () => child.stdout.destroy());
  return { ...(await exited), ...printed };
}

/**
 * Starts `petstore-mock` and waits for its ready line. Whatever a test leaves running ends with its
 * file. Give it `--port 0`.
 *
 * @example const { url, stop } = await startCommand(['--port', '0', '--any-key']);
 */
export async function startCommand(
  args: readonly string[],
  env: Environment = {},
  options: SpawnOptions = {},
): Promise<RunningCommand> {
  const { child, printed, exited } = spawnCommand(args, env, options);
  const ended = exited.then(() => true);
  for (;;) {
    const [, url] = /^petstore-mock ready (\S+)\n/.exec(printed.stdout) ?? [];
    if (url !== undefined) {
      const stop = () => {
        child.kill('SIGTERM');
        return exited;
      };
      const { stdout, stderr } = { stdout: () => printed.stdout, stderr: () => printed.stderr };
      return { url, process: child, stdout, stderr, exited, stop };
    }
    const more = once(child.stdout, 'data').then(() => false);
    if (await Promise.race([ended, more])) {
      throw new Error(`It ended before it was ready: ${printed.stderr}`);
    }
  }
}
