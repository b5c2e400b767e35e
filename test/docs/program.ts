import { execFile } from 'node:child_process';
import { execPath } from 'node:process';
import { promisify } from 'node:util';
import { packageRoot } from '../../src/package.ts';

const run = promisify(execFile);

/** What a program on a page prints, line by line. It imports the package as it was built. */
export async function printedBy(program: string): Promise<string[]> {
  const words = ['--input-type=module', '--eval', program];
  const { PATH } = process.env;
  // No server of a run that these tests may be a part of, and no proxy.
  const { stdout } = await run(execPath, words, { cwd: packageRoot, env: { PATH } });
  return stdout.trimEnd().split('\n');
}

/** What it says that it prints, behind each line that does. */
export function promisedBy(program: string): string[] {
  return [...program.matchAll(/console\.log\(.*\); \/\/ (.*)$/gm)].map(([, text = '']) => text);
}

/** What it takes from the package. */
export function usesOf(program: string): string {
  return /^import \{? ?(.*?) ?\}? from 'petstore-mock';$/m.exec(program)?.[1] ?? '';
}
