import { type ChildProcessWithoutNullStreams, type SpawnOptions, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** An environment in which no tool notices that vitest runs it, with nothing of ours that happens to be set. */
const ENVIRONMENT = Object.fromEntries(
  Object.entries(process.env).filter(
    ([name]) =>
      !/^(npm_|petstore_mock_|vitest|jest|node_env|test$|tinypool|node_options)/i.test(name),
  ),
);

export type Environment = Readonly<Record<string, string>>;

export interface ProgramOptions extends Pick<SpawnOptions, 'cwd' | 'uid' | 'detached'> {
  readonly env?: Environment | undefined;
}

export interface Exit {
  /** 128 and the signal's number are not added: a process that a signal ended has no code. */
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

const running = new Set<ChildProcessWithoutNullStreams>();

/** Ends whatever the tests of a file left running. */
export function killPrograms(): void {
  for (const child of running) child.kill('SIGKILL');
}

/** Starts a program without waiting for anything. Its standard input stays open. */
export function spawnProgram(
  program: string,
  args: readonly string[],
  { env, ...options }: ProgramOptions = {},
) {
  const child = spawn(program, args, { ...options, env: { ...ENVIRONMENT, ...env } });
  running.add(child);
  /** `output` is both, as it came. */
  const printed = { stdout: '', stderr: '', output: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      printed[name] += text;
      printed.output += text;
    });
  }
  const exited = new Promise<Exit>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => {
      running.delete(child);
      resolve({ code, signal });
    });
  });
  return { child, printed, exited };
}

/** Runs a program to its end. Returns its exit code, and what it wrote to both outputs. */
export async function runProgram(
  program: string,
  args: readonly string[],
  { env, ...options }: ProgramOptions = {},
): Promise<{ readonly code: number | null; readonly output: string }> {
  const plain = { ...options, env: { NO_COLOR: '1', ...env } };
  const { child, printed, exited } = spawnProgram(program, args, plain);
  child.stdin.end();
  const { code } = await exited;
  return { code, output: printed.output };
}

/** Waits for the end of a process: one that was killed still needs a turn. A zombie has ended. */
export async function waitForEnd(pid: number): Promise<void> {
  const isRunning = (): boolean => {
    try {
      process.kill(pid, 0);
      return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
    } catch {
      return false;
    }
  };
  while (isRunning()) await sleep(20);
}

/** The path of an installed program with one of these names; undefined if there is none. */
export function findProgram(...names: readonly string[]): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter);
  return names
    .flatMap((name) => folders.map((folder) => join(folder, name)))
    .find((file) => existsSync(file));
}
