import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** An environment in which no tool notices that vitest runs it. */
const ENVIRONMENT = Object.fromEntries(
  Object.entries(process.env).filter(
    ([name]) =>
      !/^(npm_|petstore_mock_|vitest|jest|node_env|test$|tinypool|node_options)/i.test(name),
  ),
);

interface Ended {
  readonly code: number | null;
  /** What it wrote to both outputs, as it came. */
  readonly output: string;
}

/** Runs a program to its end. */
export function runProgram(
  program: string,
  args: readonly string[],
  { cwd, env = {} }: { cwd?: string; env?: Readonly<Record<string, string>> } = {},
): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const stdio = ['ignore', 'pipe', 'pipe'] as const;
    const child = spawn(program, args, {
      cwd,
      env: { ...ENVIRONMENT, NO_COLOR: '1', ...env },
      stdio: [...stdio],
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        output += text;
      });
    }
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, output }));
  });
}

/** The path of an installed program with one of these names; undefined if there is none. */
export function findProgram(...names: readonly string[]): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter);
  return names
    .flatMap((name) => folders.map((folder) => join(folder, name)))
    .find((file) => existsSync(file));
}
