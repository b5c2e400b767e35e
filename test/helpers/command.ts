import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../src/server/files.ts';
import { type Environment, type Exit, type ProgramOptions, spawnProgram } from './program.ts';

export const MAIN = join(packageRoot, 'dist/cli/main.js');

export interface CommandResult extends Exit {
  readonly stdout: string;
  readonly stderr: string;
}

export type RunningCommand = Awaited<ReturnType<typeof startCommand>>;

/** Starts `petstore-mock` without waiting for anything. */
export function spawnCommand(args: readonly string[], options: ProgramOptions = {}) {
  if (!existsSync(MAIN)) throw new Error('The package is not built: run `npm run build`.');
  // Another user may not be allowed to run this Node, but finds one in the PATH.
  const node = options.uid === undefined ? process.execPath : 'node';
  return spawnProgram(node, [MAIN, ...args], options);
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
): Promise<CommandResult> {
  const { child, printed, exited } = spawnCommand(args, { env });
  child.stdin.end();
  if (reader === 'leave early') child.stdout.once('data', () => child.stdout.destroy());
  const exit = await exited;
  return { ...exit, stdout: printed.stdout, stderr: printed.stderr };
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
  options: ProgramOptions = {},
) {
  const spawned = spawnCommand(args, { ...options, env });
  const { child, printed, exited } = spawned;
  return {
    /** The service's base URL, from the ready line. */
    url: await readyUrl(spawned),
    process: child,
    /** Everything printed so far. */
    stdout: () => printed.stdout,
    stderr: () => printed.stderr,
    exited,
    /** Sends SIGTERM and waits for the end. */
    stop: () => {
      child.kill('SIGTERM');
      return exited;
    },
  };
}

/** Waits for the ready line of a server. Returns the URL in it. */
export async function readyUrl({ child, printed, exited }: ReturnType<typeof spawnProgram>) {
  const ended = exited.then(() => true);
  for (;;) {
    const [, url] = /^petstore-mock ready (\S+)\n/.exec(printed.stdout) ?? [];
    if (url !== undefined) return url;
    const more = once(child.stdout, 'data').then(() => false);
    if (await Promise.race([ended, more])) {
      throw new Error(`It ended before it was ready: ${printed.stderr}`);
    }
  }
}
